#include "core/comm/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <sstream>
#include <system_error>

#include "core/base/process_identity.hpp"
#include "core/base/text.hpp"

namespace titan::comm::shm {
namespace {

/// Tells segments apart, in their first page.
struct Name {
  std::uint64_t words[2];
  std::uint64_t size;
};

[[noreturn]] void fail(const char* what, int error) { throw std::system_error(error, std::generic_category(), what); }

void reserve(int file, std::size_t offset, std::size_t bytes) {
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error != 0) fail("shared memory cannot be reserved", error);
}

FileDescriptor make_file() {
  constexpr unsigned kNotExecutable = 0x8;  // newer kernels may insist on it, older ones do not know it
  int file = ::memfd_create("titan-comm", MFD_CLOEXEC | kNotExecutable);
  if (file < 0 && errno == EINVAL) file = ::memfd_create("titan-comm", MFD_CLOEXEC);
  if (file < 0) fail("shared memory cannot be made", errno);
  FileDescriptor owned(file);
  if (::fchmod(file, 0600) != 0) fail("shared memory cannot be made private", errno);
  return owned;
}

struct flock lock_of(std::size_t position) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(position);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Segment::Segment(FileDescriptor file, std::size_t size) : geometry_(size), file_(std::move(file)) {
  void* memory = ::mmap(nullptr, geometry_.total, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) fail("shared memory cannot be mapped", errno);
  memory_ = static_cast<std::byte*>(memory);
}

Segment::~Segment() { ::munmap(memory_, geometry_.total); }

std::shared_ptr<Segment> Segment::create(std::size_t size) {
  const Geometry geometry(size);
  FileDescriptor file = make_file();
  if (::ftruncate(file.get(), static_cast<off_t>(geometry.total)) != 0) fail("shared memory cannot be made", errno);
  // Without memory a first write would be a fatal signal.
  reserve(file.get(), 0, geometry.chunks_at);
  const std::shared_ptr<Segment> segment(new Segment(std::move(file), size));
  std::random_device random;
  const auto word = [&] { return (std::uint64_t{random()} << 32) | random(); };
  *segment->at<Name>(0) = {{word(), word()}, size};
  return segment;
}

std::string Segment::offer() const {
  const Name& name = *at<Name>(0);
  return concat(::getpid(), ' ', file_.get(), ' ', name.words[0], ' ', name.words[1], ' ', process_identity());
}

std::shared_ptr<Segment> Segment::open(const std::string& offer, std::size_t size) {
  pid_t process = 0;
  int descriptor = -1;
  Name wanted = {};
  std::istringstream in(offer);
  in >> process >> descriptor >> wanted.words[0] >> wanted.words[1] >> std::ws;
  std::string identity;
  std::getline(in, identity);
  if (!is_of_this_machine(identity)) throw std::runtime_error("it is another machine or container");
  // A description of its own: locks belong to one.
  FileDescriptor file = open_descriptor(concat("/proc/", process, "/fd/", descriptor).c_str(), O_RDWR);
  if (!file.is_open()) fail("the other process's memory cannot be opened", errno);
  struct stat facts = {};
  const Geometry geometry(size);
  if (::fstat(file.get(), &facts) != 0 || facts.st_size != static_cast<off_t>(geometry.total)) {
    throw std::runtime_error("the other process's memory is not what it should be");
  }
  std::shared_ptr<Segment> segment(new Segment(std::move(file), size));
  wanted.size = size;
  if (std::memcmp(segment->at<Name>(0), &wanted, sizeof wanted) != 0) {
    throw std::runtime_error("the other process's memory is that of another group");
  }
  return segment;
}

void Segment::claim(std::size_t position) {
  struct flock lock = lock_of(position);
  if (::fcntl(file_.get(), F_OFD_SETLK, &lock) != 0) fail("shared memory cannot be locked", errno);
}

bool Segment::is_held(std::size_t position) const {
  struct flock lock = lock_of(position);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void Segment::reserve_lane(std::size_t from, std::size_t to) {
  constexpr std::size_t kBytes = kNumChunks * kChunkBytes;
  reserve(file_.get(), geometry_.chunks_at + (from * size() + to) * kBytes, kBytes);
}

RankState& Segment::state(std::size_t position) const { return at<RankState>(Geometry::kPage)[position]; }

Lane& Segment::lane(std::size_t from, std::size_t to) const { return at<Lane>(geometry_.lanes_at)[from * size() + to]; }

CallHeader& Segment::header(std::size_t position, std::uint64_t round) const {
  const std::size_t index = position * kNumBuffers + round % kNumBuffers;
  return *at<CallHeader>(geometry_.headers_at + index * geometry_.header_bytes);
}

std::uint64_t* Segment::sent(std::size_t position, std::uint64_t round) const {
  return reinterpret_cast<std::uint64_t*>(&header(position, round) + 1);
}

std::byte* Segment::buffer(std::size_t position, std::uint64_t round) const {
  const std::size_t index = position * kNumBuffers + round % kNumBuffers;
  return memory_ + geometry_.buffers_at + index * kBufferBytes;
}

std::byte* Segment::chunk(std::size_t from, std::size_t to, std::uint64_t number) const {
  const std::size_t index = (from * size() + to) * kNumChunks + number % kNumChunks;
  return memory_ + geometry_.chunks_at + index * kChunkBytes;
}

}  // namespace titan::comm::shm
