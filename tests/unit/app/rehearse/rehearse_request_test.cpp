#include "core/app/rehearse/rehearse_request.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::app {
namespace {

config::CommandLine line(std::map<std::string, std::vector<std::string>, std::less<>> flags) {
  config::CommandLine made;
  made.flags = std::move(flags);
  return made;
}

TEST(RehearseRequest, DefaultsToOneRankOnAnH100) {
  const RehearseRequest request = rehearse_request(line({}));
  EXPECT_EQ(request.world_size, 1);
  EXPECT_EQ(request.hardware.name, "h100");
  EXPECT_FALSE(request.has_hardware);
  EXPECT_FALSE(request.limit_bytes);
}

TEST(RehearseRequest, ReadsFlags) {
  const RehearseRequest request = rehearse_request(line(
      {{"world-size", {"8"}}, {"rank", {"7"}}, {"memory-per-gpu", {"0.5"}}, {"json", {""}}, {"html", {"page.html"}}}));
  EXPECT_EQ(request.world_size, 8);
  EXPECT_EQ(request.shown_rank, 7);
  EXPECT_EQ(request.limit_bytes, std::int64_t{1} << 29);
  EXPECT_TRUE(request.json);
  EXPECT_EQ(request.html, "page.html");
}

TEST(RehearseRequest, WrongFlagsAreNamed) {
  for (const char* size : {"0", "-1", "x", "99999999"}) {
    EXPECT_THROW(rehearse_request(line({{"world-size", {size}}})), ConfigError) << size;
  }
  for (const char* memory : {"0", "-1", "nan", "inf", "80GiB", ""}) {
    EXPECT_THROW(rehearse_request(line({{"memory-per-gpu", {memory}}})), UsageError) << memory;
  }
  EXPECT_THROW(rehearse_request(line({{"world-size", {"4"}}, {"rank", {"4"}}})), ConfigError);
  EXPECT_THROW(rehearse_request(line({{"hardware", {"abacus"}}})), ConfigError);
  EXPECT_THROW(rehearse_request(line({{"html", {""}}})), UsageError);
}

}  // namespace
}  // namespace titan::app
