#include "core/checkpoint/dcp/training_objects.hpp"

#include "core/checkpoint/dcp/torchtitan_keys.hpp"
#include "core/pickle/writer.hpp"

namespace titan::checkpoint {
namespace {

std::string integer_pickle(std::int64_t number) {
  pickle::Writer pickle;
  pickle.integer(number);
  return pickle.finish();
}

}  // namespace

std::map<std::string, std::string> training_objects(const Source& source) {
  std::map<std::string, std::string> objects;
  if (!source.train_state) return objects;
  const TrainState& state = *source.train_state;
  objects[std::string(torchtitan_keys::kStep)] = integer_pickle(state.step);
  objects[std::string(torchtitan_keys::kTokens)] = integer_pickle(state.num_tokens);
  objects[std::string(torchtitan_keys::kScheduleStep)] = integer_pickle(state.schedule_step);
  return objects;
}

}  // namespace titan::checkpoint
