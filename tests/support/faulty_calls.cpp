#include "tests/support/faulty_calls.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

namespace titan::test {

namespace {

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// Makes a call to which `fault` happens, if any. A part of a write is what `call_half` makes.
template <class Whole, class Half>
auto befall(const std::optional<Fault>& fault, const Whole& call, const Half& call_half) -> decltype(call()) {
  if (!fault) return call();
  switch (fault->deed) {
    case Fault::Deed::kill_before:
      die();
    case Fault::Deed::kill_halfway:
      call_half();
      die();
    case Fault::Deed::kill_after:
      call();
      die();
    case Fault::Deed::fail:
      errno = fault->error;
      return -1;
    case Fault::Deed::shorten:
      return call_half();
    case Fault::Deed::delay:
      std::this_thread::sleep_for(fault->delay);
      return call();
  }
  return call();
}

template <class Whole>
int befall(const std::optional<Fault>& fault, const Whole& call) {
  // No half of such a call: when a kill comes, nothing has happened yet.
  if (fault && fault->deed == Fault::Deed::kill_halfway) die();
  return befall(fault, call, call);
}

}  // namespace

std::string_view call_name(Call call) {
  constexpr std::array<std::string_view, 8> kNames = {"open",  "write",  "fsync",  "close",
                                                      "mkdir", "rename", "unlink", "rmdir"};
  return kNames[static_cast<std::size_t>(call)];
}

void FaultyCalls::set_fault(const Fault& fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  num_counted_ = 0;
  has_struck_ = false;
}

void FaultyCalls::clear_fault() {
  const std::lock_guard lock(mutex_);
  fault_.reset();
}

bool FaultyCalls::has_struck() const {
  const std::lock_guard lock(mutex_);
  return has_struck_;
}

std::vector<MadeCall> FaultyCalls::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

std::string FaultyCalls::path_of(int descriptor) const {
  const std::lock_guard lock(mutex_);
  const auto path = open_.find(descriptor);
  return path == open_.end() ? std::string() : path->second;
}

std::optional<Fault> FaultyCalls::note(Call call, const std::string& path) {
  const std::lock_guard lock(mutex_);
  made_.push_back({call, path});
  if (!fault_ || (fault_->call && *fault_->call != call)) return std::nullopt;
  ++num_counted_;
  if (fault_->at != 0 && fault_->at != num_counted_) return std::nullopt;
  has_struck_ = true;
  return fault_;
}

int FaultyCalls::open(const char* path, int flags, unsigned mode) {
  const int descriptor = befall(note(Call::open, path), [&] { return SystemCalls::open(path, flags, mode); });
  const std::lock_guard lock(mutex_);
  if (descriptor >= 0) open_[descriptor] = path;
  return descriptor;
}

ssize_t FaultyCalls::write(int descriptor, const void* bytes, std::size_t size) {
  // Whole sectors, because direct I/O writes nothing else.
  constexpr std::size_t kSector = 4096;
  const std::size_t half = size / 2 >= kSector ? size / 2 / kSector * kSector : (size + 1) / 2;
  return befall(
      note(Call::write, path_of(descriptor)), [&] { return SystemCalls::write(descriptor, bytes, size); },
      [&] { return SystemCalls::write(descriptor, bytes, half); });
}

int FaultyCalls::fsync(int descriptor) {
  return befall(note(Call::fsync, path_of(descriptor)), [&] { return SystemCalls::fsync(descriptor); });
}

int FaultyCalls::close(int descriptor) {
  const std::optional<Fault> fault = note(Call::close, path_of(descriptor));
  {
    const std::lock_guard lock(mutex_);
    open_.erase(descriptor);
  }
  // Linux closes a file even when it reports a failure.
  if (fault && fault->deed == Fault::Deed::fail) SystemCalls::close(descriptor);
  return befall(fault, [&] { return SystemCalls::close(descriptor); });
}

int FaultyCalls::mkdir(const char* path, unsigned mode) {
  return befall(note(Call::mkdir, path), [&] { return SystemCalls::mkdir(path, mode); });
}

int FaultyCalls::rename(const char* from, const char* to) {
  return befall(note(Call::rename, from), [&] { return SystemCalls::rename(from, to); });
}

int FaultyCalls::unlink(const char* path) {
  return befall(note(Call::unlink, path), [&] { return SystemCalls::unlink(path); });
}

int FaultyCalls::rmdir(const char* path) {
  return befall(note(Call::rmdir, path), [&] { return SystemCalls::rmdir(path); });
}

}  // namespace titan::test
