#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/checkpoint/source.hpp"
#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

/// Opens a checkpoint of PyTorch's distributed checkpointing (DCP), as torchtitan saves them: reads .metadata, which
/// names only classes of torch.distributed.checkpoint.metadata and torch, and the frame of each item of the .distcp
/// files; nothing is executed. Train state comes from torchtitan's keys train_state.step, train_state.ntokens_seen (0
/// where older releases have none) and lr_scheduler.last_epoch (else the step); the rest of these, the options of the
/// optimizer's groups and the data loader's state mean nothing here. DataError names file and item: a chunk that is
/// compressed, or whose elements are not row-major; chunks that do not tile their tensor, or share bytes.
Source open_dcp(const std::filesystem::path& folder);

/// Compares every record of every item with the CRC-32 that its archive has for it; archives may have none (0). Returns
/// what is wrong, one line each, naming file and item: "__0_0.distcp: layers.0.w1.weight: damaged: ...". Errors of
/// .metadata are thrown, as open_dcp() throws them. `progress` may throw to give up.
std::vector<std::string> verify_dcp(
    const std::filesystem::path& folder,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = nullptr);

/// Writes a source as a DCP checkpoint into `folder`, which exists: one __0_N.distcp for each file of the source, and
/// .metadata last; tensors pass through memory 64 MiB at a time. Keys are torchtitan's: Python's
/// torch.distributed.checkpoint.load() reads tensors and counters, also into torchtitan's nested state. What a run of
/// torchtitan has besides, such as options of optimizer groups and the state of its data loader, is not there: it loads
/// with allow_partial_load. CreateError or IoError name path and cause, and nothing of the checkpoint is left then; a
/// file is never replaced.
void export_dcp(SystemCalls& calls, const Source& source, const std::filesystem::path& folder,
                const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = nullptr);

}  // namespace titan::checkpoint
