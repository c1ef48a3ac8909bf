#include "core/checkpoint/index.hpp"

#include "core/checkpoint/file_name.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

/// Whoever reads by this index asks no file for bytes that it has not.
void check(const Index& index) {
  for (const StoredFile& file : index.files) titan::fuzz::expect(is_file_name(file.path.native()));
  for (const auto& [name, tensor] : index.tensors) {
    std::int64_t elements = 0;
    for (const StoredPart& part : tensor.parts) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(num_elements(part.box.size)) * element_size(tensor.dtype);
      titan::fuzz::expect(part.file < index.files.size());
      titan::fuzz::expect(part.begin <= index.files[part.file].size &&
                          bytes <= index.files[part.file].size - part.begin);
      elements += num_elements(part.box.size);
    }
    titan::fuzz::expect(elements == num_elements(tensor.shape));
  }
}

void parse(std::string_view input) {
  const Index index = read_index(input, "input");
  check(index);
  titan::fuzz::expect(read_index(write_index(index), "written") == index);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
