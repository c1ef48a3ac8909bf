#include "core/plugin/version_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const TorchPin kHost{"2.11.0", 1, 13};
const std::string kHostAbi = concat(TITAN_ABI_MAJOR, ".", TITAN_ABI_MINOR);

struct Good : testing::Silent {
  static constexpr std::string_view kName = "good";
};

titan_plugin_info good_info() { return *testing::FakePlugin<Good>::query(); }

titan_plugin_info torch_info() {
  titan_plugin_info info = good_info();
  info.tier = TITAN_TIER_TORCH;
  info.torch_version = borrow("2.11.0");
  info.cxx11_abi = 1;
  info.cuda_major = 13;
  return info;
}

/// Reason and remedy of a refusal with exit code 76; empty where the info block is accepted.
std::string refusal(const titan_plugin_info* info, const TorchPin& host = kHost) {
  try {
    read_identity(info, host);
    return {};
  } catch (const LoadProblem& problem) {
    EXPECT_EQ(problem.exit(), Exit::abi);
    return concat(problem.what(), "; ", problem.remedy());
  }
}

template <class Change>
std::string refusal_after(titan_plugin_info info, Change change, const TorchPin& host = kHost) {
  change(info);
  return refusal(&info, host);
}

TEST(VersionCheck, CopiesWhoThePluginIs) {
  const titan_plugin_info info = good_info();
  const Facts facts = read_identity(&info, kHost);
  EXPECT_EQ(facts.id, "org.fake.good");
  EXPECT_EQ(facts.name, "good");
  EXPECT_EQ(facts.version, "1.2.3");
  EXPECT_EQ(facts.license, "MIT");
  EXPECT_EQ(facts.abi.minor, static_cast<std::uint32_t>(TITAN_ABI_MINOR));
  EXPECT_EQ(facts.abi.tier, TITAN_TIER_STABLE);
}

TEST(VersionCheck, RefusesNothingAndAnythingElse) {
  EXPECT_THAT(refusal(nullptr), HasSubstr("returned NULL"));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.magic = 7; }), HasSubstr("wrong magic number: 7"));
}

TEST(VersionCheck, NamesBothSizesOfAStructTooSmall) {
  const auto shorter = [](auto& info) { info.struct_size = 64; };
  EXPECT_THAT(refusal_after(good_info(), shorter),
              AllOf(HasSubstr("64 bytes"), HasSubstr(concat("at least ", sizeof(titan_plugin_info)))));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.struct_size = 8; }), HasSubstr("too small: 8 bytes"));
}

TEST(VersionCheck, AcceptsAnyLargerStruct) {
  EXPECT_EQ(refusal_after(good_info(), [](auto& i) { i.struct_size += 8; }), "");
  EXPECT_EQ(refusal_after(good_info(), [](auto& i) { i.struct_size = 1U << 20U; }), "");
}

TEST(VersionCheck, NamesBothVersions) {
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.abi_major = 99; }),
              AllOf(HasSubstr(concat("built with ABI 99.", TITAN_ABI_MINOR, ", this titan has ", kHostAbi)),
                    HasSubstr("rebuild the plugin")));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.abi_minor_needed = 999; }),
              AllOf(HasSubstr(concat("needs ABI ", TITAN_ABI_MAJOR, ".999, this titan has ", kHostAbi)),
                    HasSubstr("use a newer titan")));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.abi_minor = 0; }),
              HasSubstr(concat("built with ABI ", TITAN_ABI_MAJOR, ".0")));
  EXPECT_EQ(refusal_after(good_info(), [](auto& i) { i.abi_minor = 999; }), "") << "newer, and content with this host";
}

TEST(VersionCheck, SaysTheMajorBeforeTheSize) {
  const auto other_major = [](auto& info) {
    info.abi_major = 99;
    info.struct_size = 40;
  };
  EXPECT_THAT(refusal_after(good_info(), other_major), HasSubstr("built with ABI 99."));
}

TEST(VersionCheck, RefusesUnknownTiersAndMissingFunctions) {
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.tier = 3; }), HasSubstr("tier is unknown: 3"));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.describe = nullptr; }), HasSubstr("no function describe"));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.init = nullptr; }), HasSubstr("no function init"));
  EXPECT_THAT(refusal_after(good_info(), [](auto& i) { i.shutdown = nullptr; }), HasSubstr("no function shutdown"));
}

TEST(VersionCheck, ComparesTheTorchPinOfTheTorchTierAlone) {
  EXPECT_EQ(refusal_after(torch_info(), [](auto&) {}), "");
  EXPECT_EQ(refusal_after(good_info(), [](auto& i) { i.torch_version = borrow("1.0.0"); }), "");
  EXPECT_THAT(refusal_after(torch_info(), [](auto& i) { i.torch_version = borrow("2.9.0"); }),
              AllOf(HasSubstr("torch_version differs: the plugin has 2.9.0, this titan 2.11.0"),
                    HasSubstr("rebuild the plugin against libtorch 2.11.0")));
  EXPECT_THAT(refusal_after(torch_info(), [](auto& i) { i.cxx11_abi = 0; }), HasSubstr("cxx11_abi differs"));
  EXPECT_THAT(refusal_after(torch_info(), [](auto& i) { i.cuda_major = 12; }),
              HasSubstr("cuda_major differs: the plugin has 12, this titan 13"));
  EXPECT_THAT(refusal_after(
                  torch_info(), [](auto&) {}, TorchPin{}),
              HasSubstr("this titan was built without one"));
}

TEST(VersionCheck, RefusesTextsWithoutEnd) {
  titan_plugin_info info = good_info();
  info.name.size = 1U << 30U;
  try {
    read_identity(&info, kHost);
    FAIL();
  } catch (const LoadProblem& problem) {
    EXPECT_EQ(problem.exit(), Exit::internal);
    EXPECT_THAT(problem.what(), HasSubstr("name is too long: 1073741824 bytes"));
  }
}

}  // namespace
}  // namespace titan::plugin
