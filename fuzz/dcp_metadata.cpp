#include "core/checkpoint/dcp/metadata.hpp"

#include "core/checkpoint/file_name.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

/// What leads somewhere: only to files of the folder, and to elements of the tensor.
void check(const DcpMetadata& metadata) {
  for (const std::string& file : metadata.files) titan::fuzz::expect(is_file_name(file));
  for (const auto& [name, tensor] : metadata.tensors) {
    for (const DcpChunk& chunk : tensor.chunks) {
      titan::fuzz::expect(chunk.item.file < metadata.files.size());
      titan::fuzz::expect(chunk.item.offset + chunk.item.length >= chunk.item.offset);
      titan::fuzz::expect(chunk.box.offset.size() == tensor.shape.size() &&
                          chunk.box.size.size() == tensor.shape.size());
      for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        titan::fuzz::expect(chunk.box.size[i] > 0 && chunk.box.offset[i] >= 0 &&
                            chunk.box.offset[i] <= tensor.shape[i] - chunk.box.size[i]);
      }
    }
  }
}

/// Equal but for the numbers of the files, which count those that items are in.
void expect_same(const DcpMetadata& read, const DcpMetadata& again) {
  const auto is_same_place = [&](const DcpItem& a, const DcpItem& b) {
    return a.offset == b.offset && a.length == b.length && read.files[a.file] == again.files[b.file];
  };
  titan::fuzz::expect(read.tensors.size() == again.tensors.size() && read.objects.size() == again.objects.size());
  for (const auto& [name, tensor] : read.tensors) {
    const DcpTensor& other = again.tensors.at(name);
    titan::fuzz::expect(tensor.dtype == other.dtype && tensor.shape == other.shape &&
                        tensor.chunks.size() == other.chunks.size());
    for (std::size_t i = 0; i < tensor.chunks.size(); ++i) {
      titan::fuzz::expect(tensor.chunks[i].box == other.chunks[i].box &&
                          is_same_place(tensor.chunks[i].item, other.chunks[i].item));
    }
  }
  for (const auto& [name, item] : read.objects) titan::fuzz::expect(is_same_place(item, again.objects.at(name)));
}

void parse(std::string_view input) {
  const DcpMetadata metadata = read_dcp_metadata(std::string(input), "input");
  check(metadata);
  expect_same(metadata, read_dcp_metadata(write_dcp_metadata(metadata), "written"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
