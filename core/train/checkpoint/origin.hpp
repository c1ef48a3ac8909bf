#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/manifest.hpp"
#include "core/config/engine.hpp"

namespace titan::train {

/// What a checkpoint tells of the run that saved it.
checkpoint::Origin origin_of(const EngineRun& run, const config::Mesh& mesh);

/// What differs between a saved configuration and this one in options that decide how training goes: one text each,
/// "optimizer.lr 0.001 -> 0.002". The layout is not among them: any loads any; nor is what was not saved, as in steps
/// that were converted.
std::vector<std::string> differences(const std::map<std::string, std::string>& saved,
                                     const std::map<std::string, std::string>& here);

}  // namespace titan::train
