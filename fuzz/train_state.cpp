#include "core/checkpoint/train_state.hpp"

#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

void parse(std::string_view input) {
  const TrainState state = read_train_state(input, "input");
  titan::fuzz::expect(state.step >= 0 && state.num_tokens >= 0 && state.schedule_step >= 0);
  titan::fuzz::expect(read_train_state(write_train_state(state), "written") == state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
