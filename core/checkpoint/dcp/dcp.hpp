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
/// files; nothing is executed. Train state comes from torchtitan's keys train_state.step, train_state.ntokens_seen and
/// lr_scheduler.*; its dataloader keys mean nothing here. DataError names file and item.
Source open_dcp(const std::filesystem::path& folder);

/// Writes a source as a DCP checkpoint into `folder`, which exists: one __0_N.distcp for each file of the source, and
/// .metadata last. Keys are torchtitan's. Python's torch.distributed.checkpoint.load() reads it.
void export_dcp(SystemCalls& calls, const Source& source, const std::filesystem::path& folder,
                const std::function<void(std::uint64_t done, std::uint64_t total)>& progress = nullptr);

}  // namespace titan::checkpoint
