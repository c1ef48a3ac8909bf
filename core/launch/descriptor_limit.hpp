#pragma once

#include <sys/resource.h>

namespace titan::launch {

/// Raises this process's limit of open files as far as it may, for the pipes and logs of many ranks. The end of its
/// life restores what was before.
class DescriptorLimit {
 public:
  DescriptorLimit();
  ~DescriptorLimit();
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  /// The limit of before, which is the ranks'.
  const rlimit& before() const { return before_; }

 private:
  rlimit before_{};
};

}  // namespace titan::launch
