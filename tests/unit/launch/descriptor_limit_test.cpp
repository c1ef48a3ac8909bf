#include "core/launch/descriptor_limit.hpp"

#include <gtest/gtest.h>

namespace titan::launch {
namespace {

rlimit now() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

TEST(DescriptorLimit, IsRaisedForItsLife) {
  const rlimit before = now();
  const rlimit low{64, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low);
  {
    const DescriptorLimit raised;
    EXPECT_EQ(now().rlim_cur, before.rlim_max);
    EXPECT_EQ(raised.before().rlim_cur, 64U);
  }
  EXPECT_EQ(now().rlim_cur, 64U);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace titan::launch
