#include <span>
#include <string>

#include "core/checkpoint/safetensors.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

/// What is accepted fills the file without overlap, and survives being written and read again.
void check(SafetensorsHeader header, std::uint64_t header_size) {
  std::uint64_t at = header_size;
  for (const SafetensorsEntry& entry : header.entries) {
    titan::fuzz::expect(entry.begin == at && entry.end >= at);
    at = entry.end;
  }
  titan::fuzz::expect(at == header.file_size);
  std::vector<SafetensorsEntry> entries = header.entries;
  const std::string text = write_safetensors_header(entries, header.metadata, 64);
  const std::uint64_t file_size = text.size() + (header.file_size - header_size);
  const SafetensorsHeader again =
      read_safetensors_header(std::string_view(text).substr(kSafetensorsPrefix), text.size(), file_size, "written");
  titan::fuzz::expect(again.metadata == header.metadata && again.entries.size() == header.entries.size());
}

/// The first two bytes are the size of the data, so that mutations of the text leave the rest of the file whole.
void parse(std::string_view input) {
  if (input.size() < 2) return;
  const std::uint64_t data = static_cast<unsigned char>(input[0]) + 256U * static_cast<unsigned char>(input[1]);
  const std::string_view json = input.substr(2);
  const std::uint64_t header_size = kSafetensorsPrefix + json.size();
  check(read_safetensors_header(json, header_size, header_size + data, "input"), header_size);
  safetensors_header_size(std::as_bytes(std::span(json)), json.size(), "input");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
