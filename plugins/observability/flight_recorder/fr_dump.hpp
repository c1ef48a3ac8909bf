#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "titan/abi/observer.h"

namespace titan::observability {

/// Whose dump it is.
struct DumpOwner {
  std::int64_t rank = 0, world_size = 1;
};

/// "timeout", "error", "request", "exit", "stop"; "unknown" for a number that is no TITAN_DUMP_*.
std::string_view cause_name(std::int32_t cause);

/// Writes a dump in the form of PyTorch's flight recorder, with what titan knows more beside it. Every call is named as
/// NCCL's: the form that PyTorch writes for gloo its own analyser cannot read. Each direction of sends between two
/// ranks is a group of its own, in which the analyser matches them one by one. std::system_error.
void write_fr_dump(const std::filesystem::path& path, const titan_dump_event& event, const DumpOwner& owner);

}  // namespace titan::observability
