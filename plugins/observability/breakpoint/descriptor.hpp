#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

namespace titan::observability {

/// Owns an open file descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  /// Leaves it open until the process ends.
  void keep() noexcept { number_ = -1; }

 private:
  int number_ = -1;
};

/// Writes everything, as far as it can be written. False: not all of it.
bool write_whole(int descriptor, std::string_view text);

/// The number of an open descriptor that an environment variable names, or -1.
int named_descriptor(const char* variable);

}  // namespace titan::observability
