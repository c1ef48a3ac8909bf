#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace titan::checkpoint {

/// What a run knows besides its tensors.
struct TrainState {
  std::int64_t step = 0;                  // steps done
  std::int64_t num_tokens = 0;            // of all ranks so far, padding included
  std::int64_t schedule_step = 0;         // steps that the learning-rate schedule has seen
  std::optional<std::string> dataloader;  // cursors of the stream as data::Loader writes them, for any dp degree

  friend bool operator==(const TrainState&, const TrainState&) = default;
};

/// The state as JSON text, the content of kTrainStateFile.
std::string write_train_state(const TrainState& state);
/// Reads what write_train_state wrote. DataError names `source` and the field.
TrainState read_train_state(std::string_view text, const std::string& source);

inline constexpr const char* kTrainStateFile = "train_state.json";

}  // namespace titan::checkpoint
