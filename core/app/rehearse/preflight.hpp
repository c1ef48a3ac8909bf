#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/session.hpp"
#include "core/config/config.hpp"
#include "core/config/mesh.hpp"
#include "core/config/sizes.hpp"
#include "titan/abi/model.h"

namespace titan::app {

/// Something a run needs besides memory and time.
struct PreflightLine {
  /// missing: the run would stop for it. none: the run needs no such thing.
  enum class State { ok, missing, none };
  std::string what;  // "dataset"
  State state = State::ok;
  std::string detail;
};

/// "ok", "missing", "n.a.".
std::string_view name(PreflightLine::State state);

/// A run to be looked at.
struct PreflightRun {
  const config::Config& config;
  const config::Mesh& mesh;
  const config::Sizes& sizes;
  const titan_model_facts& facts;
};

/// Looks at what a run needs: options, layout, sizes, plugins, data, tokenizer, a checkpoint to begin from, room for
/// those it saves. Reads headers only; makes nothing.
std::vector<PreflightLine> preflight(const Session& session, const PreflightRun& run);

/// Bytes of one full checkpoint: every parameter, and two states of the optimizer for each, in training.dtype.
std::uint64_t checkpoint_bytes(const config::Config& config, const titan_model_facts& facts);

}  // namespace titan::app
