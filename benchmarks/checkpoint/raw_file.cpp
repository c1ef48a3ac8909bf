#include "benchmarks/checkpoint/raw_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/file_descriptor.hpp"
#include "core/checkpoint/aligned_memory.hpp"

namespace titan::benchmark {

namespace {

constexpr std::size_t kPiece = std::size_t{8} << 20U;

void require(bool holds, const std::filesystem::path& path) {
  if (!holds) throw std::system_error(errno, std::generic_category(), path.string());
}

FileDescriptor open_direct(const std::filesystem::path& path, int flags) {
  FileDescriptor file = open_descriptor(path.c_str(), flags | O_DIRECT, 0600);
  require(file.is_open(), path);
  return file;
}

}  // namespace

bool has_direct_io(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "trial";
  const checkpoint::AlignedMemory page(checkpoint::kDirectAlignment);
  try {
    write_raw(path, page.bytes());
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::invalid_argument) throw;
    std::filesystem::remove(path);
    return false;
  }
  std::filesystem::remove(path);
  return true;
}

void write_raw(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const FileDescriptor file = open_direct(path, O_WRONLY | O_CREAT | O_EXCL);
  while (!bytes.empty()) {
    const ssize_t done = ::write(file.get(), bytes.data(), std::min(bytes.size(), kPiece));
    require(done > 0, path);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  require(::fsync(file.get()) == 0, path);
}

void read_raw(const std::filesystem::path& path, std::span<std::byte> bytes) {
  const FileDescriptor file = open_direct(path, O_RDONLY);
  while (!bytes.empty()) {
    const ssize_t done = ::read(file.get(), bytes.data(), std::min(bytes.size(), kPiece));
    require(done >= 0, path);
    if (done == 0 || done % static_cast<ssize_t>(checkpoint::kDirectAlignment) != 0) return;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

}  // namespace titan::benchmark
