#include "core/checkpoint/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <span>
#include <system_error>

#include "core/base/error.hpp"
#include "core/checkpoint/output_file.hpp"

namespace titan::checkpoint {

namespace {

/// Deeper trees are nothing that a save makes.
constexpr int kDeepestFolder = 32;

int remove_entry(SystemCalls& calls, const std::filesystem::path& path, int depth) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return errno == ENOENT ? 0 : errno;
  if (!S_ISDIR(status.st_mode)) return calls.unlink(path.c_str()) == 0 || errno == ENOENT ? 0 : errno;
  if (depth == kDeepestFolder) return ELOOP;
  int first = 0;
  try {
    for (const std::string& name : names_in(path)) {
      const int error = remove_entry(calls, path / name, depth + 1);
      if (first == 0) first = error;
    }
  } catch (const InputError&) {
    first = EACCES;
  }
  if (first != 0) return first;
  return calls.rmdir(path.c_str()) == 0 || errno == ENOENT ? 0 : errno;
}

}  // namespace

std::string reason_of(int error) { return std::generic_category().message(error); }

void fail_to_create_folder(const std::filesystem::path& path, int error) {
  const std::string text =
      concat("[checkpoint] cannot create folder: ", printable(path.native()), ": ", reason_of(error));
  if (error == ENOSPC || error == EDQUOT || error == EIO) throw IoError(text);
  throw CreateError(text);
}

std::string draw_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string id;
  for (int word = 0; word < 4; ++word) {
    for (std::uint32_t bits = random(), digit = 0; digit < 8; ++digit, bits >>= 4U) id += kDigits[bits & 15U];
  }
  return id;
}

bool is_real_folder(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_taken(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 || errno != ENOENT;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) throw InputError("[checkpoint] cannot list folder: ", printable(folder.native()), ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

void write_new_file(SystemCalls& calls, const std::filesystem::path& path, std::string_view content) {
  OutputFile file(calls, path, content.size());
  try {
    file.write(std::as_bytes(std::span(content)));
    file.finish();
  } catch (const IoError&) {
    calls.unlink(path.c_str());
    throw;
  }
}

void sync_folder(SystemCalls& calls, const std::filesystem::path& folder) {
  int descriptor = -1;
  do {
    descriptor = calls.open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  } while (descriptor < 0 && errno == EINTR);
  int error = descriptor < 0 ? errno : 0;
  if (error == 0 && calls.fsync(descriptor) != 0) error = errno;
  if (descriptor >= 0) calls.close(descriptor);
  // Some file systems cannot sync a folder and say EINVAL.
  if (error == 0 || error == EINVAL) return;
  throw IoError("[checkpoint] cannot sync folder: ", printable(folder.native()), ": ", reason_of(error));
}

int remove_folder(SystemCalls& calls, const std::filesystem::path& folder) { return remove_entry(calls, folder, 0); }

}  // namespace titan::checkpoint
