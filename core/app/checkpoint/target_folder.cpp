#include "core/app/checkpoint/target_folder.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/checkpoint/disk.hpp"

namespace titan::app {
namespace {

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

/// An absolute path without a slash at its end.
std::filesystem::path normal(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

void check_free(const std::filesystem::path& target) {
  if (!checkpoint::is_taken(target)) return;
  if (!checkpoint::is_real_folder(target))
    throw CreateError("[checkpoint] the target is there and no folder: ", shown(target));
  if (!checkpoint::names_in(target).empty()) {
    throw CreateError("[checkpoint] the target folder is not empty, nothing is overwritten: ", shown(target));
  }
}

}  // namespace

TargetFolder::TargetFolder(checkpoint::SystemCalls& calls, const std::filesystem::path& target)
    : calls_(calls), target_(normal(target)) {
  check_free(target_);
  std::error_code ignored;
  if (!std::filesystem::is_directory(target_.parent_path(), ignored)) {
    throw CreateError("[checkpoint] there is no folder for the target to be in: ", shown(target_.parent_path()));
  }
  beside_ = target_.parent_path() / concat(".", target_.filename().native(), ".tmp-", checkpoint::draw_id());
  if (calls_.mkdir(beside_.c_str(), 0700) == 0) return;
  const int error = errno;
  const std::filesystem::path unmade = std::exchange(beside_, {});
  throw CreateError("[checkpoint] cannot make a folder: ", shown(unmade), ": ", checkpoint::reason_of(error));
}

TargetFolder::~TargetFolder() {
  if (const int error = checkpoint::remove_folder(calls_, beside_); error != 0) {
    log_warning("checkpoint", "cannot remove folder: ", shown(beside_), ": ", checkpoint::reason_of(error));
  }
}

void TargetFolder::publish(const std::filesystem::path& folder) {
  checkpoint::sync_folder(calls_, folder);
  check_free(target_);
  if (checkpoint::is_taken(target_) && calls_.rmdir(target_.c_str()) != 0) {
    throw CreateError("[checkpoint] cannot replace the empty folder: ", shown(target_), ": ",
                      checkpoint::reason_of(errno));
  }
  if (calls_.rename(folder.c_str(), target_.c_str()) != 0) {
    throw CreateError("[checkpoint] cannot rename folder: ", shown(folder), " to ", shown(target_), ": ",
                      checkpoint::reason_of(errno));
  }
  checkpoint::sync_folder(calls_, target_.parent_path());
}

}  // namespace titan::app
