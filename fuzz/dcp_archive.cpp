#include <algorithm>

#include "core/checkpoint/dcp/saved_object.hpp"
#include "core/checkpoint/parts.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

/// The input as a file gives it: whoever asks for more than there is has not looked.
RangeOfBytes bytes_of(std::string_view input) {
  return {input.size(), [input](std::uint64_t offset, std::span<char> bytes) {
            titan::fuzz::expect(offset <= input.size() && bytes.size() <= input.size() - offset);
            std::copy_n(input.begin() + offset, bytes.size(), bytes.begin());
          }};
}

void parse(std::string_view input) {
  const SavedObject object(bytes_of(input), "input");
  try {
    object.integer();
  } catch (const titan::DataError&) {
    // It may be a tensor.
  }
  const SavedTensor tensor = object.tensor();
  const auto elements = static_cast<std::uint64_t>(num_elements(tensor.shape));
  titan::fuzz::expect(tensor.begin <= input.size() &&
                      elements <= (input.size() - tensor.begin) / element_size(tensor.dtype));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
