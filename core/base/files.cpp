#include "core/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace titan {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

/// Refuses folders and devices; O_NONBLOCK, because opening a fifo would wait for its writer.
FileDescriptor open_regular_file(const std::filesystem::path& path, std::uint64_t& size) {
  struct stat status {};
  FileDescriptor file = open_descriptor(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file.is_open()) throw InputError("[files] cannot open file: ", shown(path), ": ", reason(errno));
  if (::fstat(file.get(), &status) != 0) throw IoError("[files] cannot stat file: ", shown(path), ": ", reason(errno));
  if (S_ISDIR(status.st_mode)) throw InputError("[files] expected a file, found a folder: ", shown(path));
  if (!S_ISREG(status.st_mode)) throw InputError("[files] not a regular file: ", shown(path));
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

/// Deletes the temporary file unless it was renamed to its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32U) | random();
    path_ = target.parent_path() / concat(".", target.filename().string(), ".tmp-", number);
    file_ = open_descriptor(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!file_.is_open()) throw CreateError("[files] cannot create file: ", shown(target), ": ", reason(errno));
  }
  ~TemporaryFile() {
    if (file_.is_open() && !renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view content, const std::filesystem::path& target) const {
    int error = write_all(file_.get(), content);
    if (error == 0 && ::fsync(file_.get()) != 0) error = errno;
    if (error != 0) throw IoError("[files] cannot write file: ", shown(target), ": ", reason(error));
  }

  void rename(const std::filesystem::path& target) {
    if (std::rename(path_.c_str(), target.c_str()) != 0) {
      throw CreateError("[files] cannot create file: ", shown(target), ": ", reason(errno));
    }
    renamed_ = true;
  }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  bool renamed_ = false;
};

/// A device, pipe or folder is not replaced by a file; a link is, not what it points to.
void refuse_special_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)) return;
  throw CreateError("[files] cannot create file: ", shown(path), ": something else has that name");
}

void sync_folder(const std::filesystem::path& folder, const std::filesystem::path& target) {
  const FileDescriptor descriptor =
      open_descriptor(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOCTTY);
  // Some file systems cannot sync a folder and say EINVAL.
  if (!descriptor.is_open() || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) {
    throw IoError("[files] cannot sync the folder of file: ", shown(target), ": ", reason(errno));
  }
}

/// Makes `part`, the last or a parent folder of `whole`.
void make_one_folder(const std::filesystem::path& part, const std::filesystem::path& whole) {
  if (::mkdir(part.c_str(), 0700) == 0) return;
  const int error = errno;
  struct stat status {};
  if (error == EEXIST && ::stat(part.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return;
  const std::string why = error == EEXIST ? "something else has that name" : reason(error);
  throw CreateError("[files] cannot create folder: ", shown(whole), ": ", shown(part), ": ", why);
}

}  // namespace

FileReader::FileReader(const std::filesystem::path& path) : path_(path), file_(open_regular_file(path, size_)) {}

std::size_t FileReader::read(char* buffer, std::size_t size) const {
  for (;;) {
    const ssize_t got = ::read(file_.get(), buffer, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw IoError("[files] cannot read file: ", shown(path_), ": ", reason(errno));
  }
}

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
  const FileReader file(path);
  std::string content;
  if (file.size() <= limit) {
    content.reserve(static_cast<std::size_t>(file.size()));
    std::array<char, 1U << 16U> buffer{};
    while (content.size() <= limit) {
      const std::size_t got = file.read(buffer.data(), buffer.size());
      if (got == 0) return content;
      content.append(buffer.data(), got);
    }
  }
  throw DataError("[files] file is larger than allowed: ", shown(path), ": limit ", limit, " bytes");
}

void read_file_in_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& piece) {
  const FileReader file(path);
  std::string buffer(std::size_t{1} << 20U, '\0');
  while (const std::size_t got = file.read(buffer.data(), buffer.size())) {
    piece(std::string_view(buffer.data(), got));
  }
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  refuse_special_file(path);
  TemporaryFile temporary(path);
  temporary.write(content, path);
  temporary.rename(path);
  sync_folder(path.parent_path(), path);
}

void create_folder(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : path) {
    made /= part;
    if (made.empty() || part == "." || part == ".." || made == made.root_path()) continue;
    make_one_folder(made, path);
  }
}

}  // namespace titan
