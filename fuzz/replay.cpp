// Runs a fuzz target over the files of a folder, without libFuzzer: what was found once stays found.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.hpp"

namespace {

std::vector<std::filesystem::path> files_in(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The input in memory of exactly its size, so that a sanitizer sees a read past its end.
void run_on(const std::string& content) {
  const std::vector<std::uint8_t> bytes(content.begin(), content.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 64;
  }
  const std::vector<std::filesystem::path> files = files_in(argv[1]);
  for (const std::filesystem::path& file : files) {
    const std::string content = content_of(file);
    std::printf("%s: %zu bytes\n", file.filename().c_str(), content.size());
    std::fflush(stdout);  // the last line names the file that ends the program
    run_on(content);
    // Every beginning of a file too, as if writing it had been cut short.
    const std::size_t step = std::max<std::size_t>(content.size() / 256, 1);
    for (std::size_t size = 0; size < content.size(); size += step) run_on(content.substr(0, size));
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 66 : 0;
}
