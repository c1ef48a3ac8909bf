#include "titan/sdk/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"
#include "titan/sdk/plugin.hpp"

namespace titan::sdk {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class Declaring {
 public:
  static constexpr Identity kIdentity{.id = "org.test.d", .name = "d", .version = "1.0.0", .license = "MIT"};
  explicit Declaring(Host) {}
  static void describe(Describe& d) {
    d.options({{"d.on", true, "A switch."},
               {"d.count", 4096, "A count.", at_least(1), at_most(9000), must_match},
               {"d.rate", 8e-4, "A rate.", above(0)},
               {"d.kind", "a", "A kind.", one_of({"a", "b"}), metavar("KIND")},
               {"d.file", Path{"./x"}, "A file.", hidden},
               {"d.names", Strings{"p,q"}, "Names."},
               {"d.groups", Tables{"[]"}, "Groups."},
               {"d.maybe", none<int>, "Maybe."},
               {"d.scale", 2.0, "May be None.", nullable}});
    d.preset({"small", "A small one", "", {{"d.count", 3}, {"d.on", false}, {"d.maybe", none<int>}}});
    d.preset({"smaller", "", "small", {{"d.rate", 1e-5}}});
  }
};

class SdkDescribe : public ::testing::Test {
 protected:
  SdkDescribe() { host_.declare(*Entry<Declaring>::info()); }
  const test::FakeHost::Option& option(const std::string& name) { return host_.options().at(name); }
  test::FakeHost host_;
};

TEST_F(SdkDescribe, TypesFollowTheDefaults) {
  EXPECT_EQ(option("d.on").type, TITAN_OPTION_BOOL);
  EXPECT_EQ(option("d.on").text, "true");
  EXPECT_EQ(option("d.count").type, TITAN_OPTION_INT);
  EXPECT_EQ(option("d.count").text, "4096");
  EXPECT_EQ(option("d.rate").type, TITAN_OPTION_FLOAT);
  EXPECT_EQ(option("d.rate").text, "8e-04");
  EXPECT_EQ(option("d.kind").type, TITAN_OPTION_STRING);
  EXPECT_EQ(option("d.file").type, TITAN_OPTION_PATH);
  EXPECT_EQ(option("d.names").type, TITAN_OPTION_STRINGS);
  EXPECT_EQ(option("d.groups").type, TITAN_OPTION_TABLES);
  EXPECT_EQ(option("d.maybe").type, TITAN_OPTION_INT);
}

TEST_F(SdkDescribe, RulesBecomeFlagsAndBounds) {
  EXPECT_EQ(option("d.on").flags, 0u);
  EXPECT_EQ(option("d.count").flags,
            std::uint32_t{TITAN_OPTION_HAS_MIN | TITAN_OPTION_HAS_MAX | TITAN_OPTION_MUST_MATCH});
  EXPECT_EQ(option("d.count").min, 1);
  EXPECT_EQ(option("d.count").max, 9000);
  EXPECT_EQ(option("d.rate").flags, std::uint32_t{TITAN_OPTION_HAS_MIN | TITAN_OPTION_MIN_EXCLUSIVE});
  EXPECT_THAT(option("d.kind").choices, ElementsAre("a", "b"));
  EXPECT_EQ(option("d.kind").metavar, "KIND");
  EXPECT_EQ(option("d.file").flags, std::uint32_t{TITAN_OPTION_HIDDEN});
}

TEST_F(SdkDescribe, NoneIsAnAbsentDefaultOfANullableOption) {
  EXPECT_TRUE(option("d.maybe").is_none);
  EXPECT_EQ(option("d.maybe").flags, std::uint32_t{TITAN_OPTION_NULLABLE});
  EXPECT_FALSE(option("d.scale").is_none);
  EXPECT_EQ(option("d.scale").flags, std::uint32_t{TITAN_OPTION_NULLABLE});
}

TEST_F(SdkDescribe, PresetsAreTextsAsOnTheCommandLine) {
  EXPECT_THAT(host_.preset("small").settings,
              ElementsAre(Pair("d.count", "3"), Pair("d.on", "false"), Pair("d.maybe", "None")));
  EXPECT_EQ(host_.preset("small").base, "");
  EXPECT_EQ(host_.preset("smaller").base, "small");
  EXPECT_THAT(host_.preset("smaller").settings, ElementsAre(Pair("d.rate", "1e-05")));
}

TEST_F(SdkDescribe, AnErrorOfTheSinkIsReturned) {
  EXPECT_THROW(host_.declare(*Entry<Declaring>::info()), std::runtime_error);  // every name is taken now
  EXPECT_EQ(host_.live_errors(), 0);
}

}  // namespace
}  // namespace titan::sdk
