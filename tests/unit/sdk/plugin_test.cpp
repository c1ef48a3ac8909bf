#include "titan/sdk/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::sdk {
namespace {

int alive = 0;

class Counted {
 public:
  static constexpr Identity kIdentity{
      .id = "org.test.counted", .name = "counted", .version = "1.2.3", .license = "MIT"};
  static void describe(Describe& d) { d.option({"counted.fail", false, "Fail in init."}); }
  explicit Counted(Host host) {
    if (host.config().boolean("counted.fail")) throw ConfigError("[counted] asked to fail");
    host.info("counted", "ready");
    ++alive;
  }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

template <class Plugin>
struct Numbers {
  static constexpr std::string_view kId = "test.numbers/1";
  static const void* table() noexcept {
    static constexpr int kTable = 5;
    return &kTable;
  }
};

using TestedEntry = Entry<Counted, Numbers>;

class SdkPlugin : public ::testing::Test {
 protected:
  SdkPlugin() { host_.declare(info_); }
  test::FakeHost host_;
  const titan_plugin_info& info_ = *TestedEntry::info();
};

TEST_F(SdkPlugin, SaysWhoItIs) {
  EXPECT_EQ(info_.struct_size, sizeof(titan_plugin_info));
  EXPECT_EQ(info_.magic, TITAN_PLUGIN_MAGIC);
  EXPECT_EQ(info_.abi_major, unsigned{TITAN_ABI_MAJOR});
  EXPECT_EQ(info_.abi_minor, unsigned{TITAN_ABI_MINOR});
  EXPECT_LE(info_.abi_minor_needed, info_.abi_minor);
  EXPECT_EQ(info_.tier, TITAN_TIER_STABLE);
  EXPECT_EQ(info_.torch_version.data, nullptr);
  EXPECT_EQ(view(info_.id), "org.test.counted");
  EXPECT_EQ(view(info_.version), "1.2.3");
  EXPECT_EQ(TestedEntry::info(), &info_);
}

TEST_F(SdkPlugin, ProvidesItsAdapters) {
  EXPECT_THAT(host_.provides(), ::testing::ElementsAre("test.numbers/1"));
  void* ctx = nullptr;
  ASSERT_EQ(host_.take(info_.init(host_.table(), &ctx)), "");
  EXPECT_EQ(*static_cast<const int*>(info_.get_interface(ctx, borrow("test.numbers/1"))), 5);
  EXPECT_EQ(info_.get_interface(ctx, borrow("test.numbers/2")), nullptr);
  EXPECT_EQ(info_.get_interface(ctx, kAbsent), nullptr);
  info_.shutdown(ctx);
}

TEST_F(SdkPlugin, EachInitMakesAnInstance) {
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(host_.take(info_.init(host_.table(), &first)), "");
  ASSERT_EQ(host_.take(info_.init(host_.table(), &second)), "");
  EXPECT_EQ(alive, 2);
  info_.shutdown(first);
  info_.shutdown(second);
  EXPECT_EQ(alive, 0);
  EXPECT_THAT(host_.log(), ::testing::ElementsAre("1 [counted] ready", "1 [counted] ready"));
}

TEST_F(SdkPlugin, AnExceptionInInitIsAnError) {
  host_.set("counted.fail", "true");
  void* ctx = nullptr;
  EXPECT_EQ(host_.take(info_.init(host_.table(), &ctx)), "78: [counted] asked to fail");
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(host_.live_errors(), 0);
}

TEST_F(SdkPlugin, NamesAnInterfaceTheHostLacks) {
  try {
    Host(host_.table()).require<int>("titan.later/1");
    FAIL() << "no error";
  } catch (const AbiError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("titan.later/1"));
  }
}

}  // namespace
}  // namespace titan::sdk
