#include "core/checkpoint/manifest.hpp"

#include "core/checkpoint/file_name.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

void parse(std::string_view input) {
  const Manifest manifest = read_manifest(input, "input");
  for (const ManifestFile& file : manifest.files) titan::fuzz::expect(is_file_name(file.name));
  titan::fuzz::expect(read_manifest(write_manifest(manifest), "written") == manifest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
