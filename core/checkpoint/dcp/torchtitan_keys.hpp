#pragma once

#include <string_view>

/// What torchtitan's checkpoints hold beside the model, whose names are whole.
namespace titan::checkpoint::torchtitan_keys {

inline constexpr std::string_view kStep = "train_state.step";
inline constexpr std::string_view kTokens = "train_state.ntokens_seen";
inline constexpr std::string_view kScheduleStep = "lr_scheduler.last_epoch";

// Keys below these are no tensors of a model or an optimizer.
inline constexpr std::string_view kOtherKeys[] = {"train_state.", "lr_scheduler.", "dataloader.",
                                                  "optimizer.param_groups."};
// torchtitan's state is nested: these are keys of it, and everything behind their dot is a key below.
inline constexpr std::string_view kNestedKeys[] = {"train_state", "lr_scheduler", "dataloader", "optimizer"};

}  // namespace titan::checkpoint::torchtitan_keys
