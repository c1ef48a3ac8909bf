#include "core/launch/descriptor_limit.hpp"

#include "core/base/error.hpp"

namespace titan::launch {

DescriptorLimit::DescriptorLimit() {
  TITAN_CHECK(::getrlimit(RLIMIT_NOFILE, &before_) == 0, "every process has this limit");
  const rlimit raised{before_.rlim_max, before_.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
}

DescriptorLimit::~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

}  // namespace titan::launch
