#include "core/checkpoint/hub/hub_index.hpp"

#include "core/checkpoint/file_name.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

void parse(std::string_view input) {
  const HubWeightMap weights = read_hub_index(input, "input");
  titan::fuzz::expect(!weights.empty());
  for (const auto& [tensor, file] : weights) titan::fuzz::expect(is_file_name(file));
  titan::fuzz::expect(read_hub_index(write_hub_index(weights, 1, 4), "written") == weights);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
