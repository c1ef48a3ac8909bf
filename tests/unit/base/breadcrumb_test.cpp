#include "core/base/breadcrumb.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace titan {
namespace {

TEST(BreadcrumbTest, ScopesNestAndRestore) {
  EXPECT_EQ(breadcrumb().plugin, nullptr);
  {
    const BreadcrumbScope outer("llama3", "build");
    EXPECT_STREQ(breadcrumb().callback, "build");
    {
      const BreadcrumbScope inner("observability", "step_end");
      EXPECT_STREQ(breadcrumb().plugin, "observability");
    }
    EXPECT_STREQ(breadcrumb().plugin, "llama3");
  }
  EXPECT_EQ(breadcrumb().plugin, nullptr);
}

TEST(BreadcrumbTest, EachThreadHasItsOwn) {
  const BreadcrumbScope scope("llama3", "build");
  const char* seen = "unset";
  std::thread([&] { seen = breadcrumb().plugin; }).join();
  EXPECT_EQ(seen, nullptr);
}

TEST(BreadcrumbTest, AnotherLibrarysSourceTakesOver) {
  static Breadcrumb host;
  set_breadcrumb_source([] { return &host; });
  {
    const BreadcrumbScope scope("llama3", "forward");
    EXPECT_STREQ(host.callback, "forward");
  }
  EXPECT_EQ(host.callback, nullptr);
  set_breadcrumb_source(nullptr);
  EXPECT_NE(&breadcrumb(), &host);
}

}  // namespace
}  // namespace titan
