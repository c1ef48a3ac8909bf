#include "core/checkpoint/aligned_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/shortage.hpp"
#include "core/checkpoint/disk.hpp"

namespace titan::checkpoint {

AlignedMemory::AlignedMemory(std::uint64_t size) : size_(size) {
  if (size == 0) return;
  void* const got = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) {
    const int error = errno;
    tell_of_shortage(size);
    throw ResourceError("[checkpoint] cannot get host memory: ", size, " bytes: ", reason_of(error));
  }
  data_ = static_cast<std::byte*>(got);
  ::madvise(got, size, MADV_HUGEPAGE);
}

AlignedMemory::~AlignedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

AlignedMemory::AlignedMemory(AlignedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

void AlignedMemory::touch() {
  // One write a page; volatile, because nobody reads what was written.
  for (std::uint64_t at = 0; at < size_; at += kDirectAlignment) *const_cast<volatile std::byte*>(data_ + at) = {};
}

}  // namespace titan::checkpoint
