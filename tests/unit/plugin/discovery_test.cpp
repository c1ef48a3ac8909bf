#include "core/plugin/discovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/plugin/loader.hpp"
#include "core/plugin/manifest.hpp"
#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Alpha : testing::Silent {
  static constexpr std::string_view kName = "alpha";
};
struct Beta : testing::Silent {
  static constexpr std::string_view kName = "beta";
};
/// Another plugin that calls itself alpha.
struct OtherAlpha : testing::Silent {
  static constexpr std::string_view kName = "alpha";
  static const titan_plugin_info* query() {
    static const titan_plugin_info info = testing::FakePlugin<OtherAlpha>::make_info("org.other.alpha");
    return &info;
  }
};
struct TooNew : testing::Silent {
  static constexpr std::string_view kName = "too_new";
  static const titan_plugin_info* query() {
    static const titan_plugin_info info = [] {
      titan_plugin_info made = testing::FakePlugin<TooNew>::make_info("org.fake.too_new");
      made.abi_minor_needed = 9;
      return made;
    }();
    return &info;
  }
};

class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() {
    libraries_.add("alpha.so", &testing::FakePlugin<Alpha>::query);
    libraries_.add("beta.so", &testing::FakePlugin<Beta>::query);
    libraries_.add("other_alpha.so", &OtherAlpha::query);
    libraries_.add("too_new.so", &TooNew::query);
  }

  /// Puts a library with its manifest into a folder.
  std::filesystem::path install(const std::string& name) {
    const auto library = folder_.write(name + ".so", "bytes of " + name);
    const Facts facts = open_and_describe(library, libraries_);
    folder_.write(name + ".titan.json", write_manifest(facts, library));
    libraries_.opened.clear();
    return library;
  }

  static Search in_folders(std::vector<std::filesystem::path> folders) { return {{}, std::move(folders), "", false}; }

  std::string refusal(const Search& search) {
    try {
      discover(search, libraries_);
      return {};
    } catch (const Error& error) {
      return concat(static_cast<int>(error.exit()), ": ", error.what());
    }
  }

  static std::vector<std::string> names(const Found& found) {
    std::vector<std::string> out;
    for (const auto& plugin : found.plugins) out.push_back(plugin.facts.name);
    return out;
  }

  const testing::TemporaryFolder folder_;
  testing::FakeLibraries libraries_;
};

TEST_F(DiscoveryTest, ReadsManifestsAndOpensNothing) {
  install("beta");
  install("sub/alpha");
  folder_.write("notes.txt", "no plugin");
  const Found found = discover(in_folders({folder_.path(), folder_.path() / "sub", "/nonexistent"}), libraries_);
  EXPECT_THAT(names(found), ElementsAre("beta", "alpha"));
  EXPECT_THAT(found.broken, IsEmpty());
  EXPECT_THAT(libraries_.opened, IsEmpty());
  EXPECT_EQ(found.plugins[0].library, folder_.path() / "beta.so");
  EXPECT_EQ(found.plugins[0].manifest, folder_.path() / "beta.titan.json");
  EXPECT_FALSE(found.plugins[0].named);
}

TEST_F(DiscoveryTest, LeavesALibraryWithoutManifestAlone) {
  folder_.write("alpha.so", "bytes");
  EXPECT_THAT(discover(in_folders({folder_.path()}), libraries_).plugins, IsEmpty());
  EXPECT_THAT(libraries_.opened, IsEmpty());
}

TEST_F(DiscoveryTest, OpensANamedFileWithoutManifest) {
  const Search search{{folder_.write("alpha.so", "bytes")}, {}, "", false};
  const Found found = discover(search, libraries_);
  EXPECT_THAT(names(found), ElementsAre("alpha"));
  EXPECT_THAT(libraries_.opened, ElementsAre("alpha.so"));
  EXPECT_TRUE(found.plugins[0].named);
  EXPECT_TRUE(found.plugins[0].manifest.empty());
}

TEST_F(DiscoveryTest, ReadsTheManifestOfANamedFile) {
  const Search search{{install("alpha")}, {}, "", false};
  EXPECT_THAT(names(discover(search, libraries_)), ElementsAre("alpha"));
  EXPECT_THAT(libraries_.opened, IsEmpty());
}

TEST_F(DiscoveryTest, OpensALibraryThatChangedAndWarns) {
  install("alpha");
  folder_.write("alpha.so", "newer bytes");
  ::testing::internal::CaptureStderr();
  const Found found = discover(in_folders({folder_.path()}), libraries_);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("changed after its manifest was written"));
  EXPECT_THAT(names(found), ElementsAre("alpha"));
  EXPECT_THAT(libraries_.opened, ElementsAre("alpha.so"));
}

TEST_F(DiscoveryTest, OpensANamedFileWithABrokenManifestAndWarns) {
  install("alpha");
  folder_.write("alpha.titan.json", "{");
  ::testing::internal::CaptureStderr();
  const Found found = discover({{folder_.path() / "alpha.so"}, {}, "", false}, libraries_);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("manifest ignored"));
  EXPECT_THAT(libraries_.opened, ElementsAre("alpha.so"));
}

TEST_F(DiscoveryTest, ANamedFileThatFailsIsFatal) {
  EXPECT_THAT(refusal({{folder_.path() / "gone.so"}, {}, "", false}),
              AllOf(HasSubstr("66: [plugin] cannot load gone from "), HasSubstr("no such file")));
  EXPECT_THAT(refusal({{folder_.path()}, {}, "", false}), HasSubstr("it is a folder"));
  EXPECT_THAT(refusal({{folder_.write("too_new.so", "x")}, {}, "", false}),
              HasSubstr("76: [plugin] cannot load too_new from "));
}

TEST_F(DiscoveryTest, AnUndemandedBrokenPluginIsCollected) {
  install("alpha");
  folder_.write("broken.titan.json", "{\"manifest_version\": 1}");
  const Found found = discover(in_folders({folder_.path()}), libraries_);
  EXPECT_THAT(names(found), ElementsAre("alpha"));
  ASSERT_EQ(found.broken.size(), 1U);
  EXPECT_EQ(found.broken[0].name, "broken");
  EXPECT_THAT(found.broken[0].error.what(), HasSubstr("cannot load broken from "));
}

TEST_F(DiscoveryTest, ABrokenPluginThatIsAskedForIsFatal) {
  install("alpha");
  folder_.write("wanted.titan.json", "{");
  Search search = in_folders({folder_.path()});
  search.module = "wanted";
  EXPECT_THAT(refusal(search), HasSubstr("76: [plugin] cannot load wanted from "));
  search.module = "alpha";
  EXPECT_EQ(refusal(search), "");
}

TEST_F(DiscoveryTest, AManifestWhoseLibraryIsGoneIsBroken) {
  install("alpha");
  std::filesystem::remove(folder_.path() / "alpha.so");
  testing::FakeLibraries none;
  const Found found = discover(in_folders({folder_.path()}), none);
  ASSERT_EQ(found.broken.size(), 1U);
}

TEST_F(DiscoveryTest, AManifestThatDoesNotFitIsBroken) {
  const auto library = folder_.write("alpha.so", "bytes");
  Facts facts = open_and_describe(library, libraries_);
  facts.abi.tier = TITAN_TIER_TORCH;
  facts.torch = {"1.0.0", 0, 9};
  folder_.write("alpha.titan.json", write_manifest(facts, library));
  const Found found = discover(in_folders({folder_.path()}), libraries_);
  ASSERT_EQ(found.broken.size(), 1U);
  EXPECT_EQ(found.broken[0].error.exit(), Exit::abi);
}

TEST_F(DiscoveryTest, RefusesTwoOfOneId) {
  const auto first = install("alpha");
  const auto second = install("sub/alpha");
  EXPECT_THAT(refusal(in_folders({folder_.path(), folder_.path() / "sub"})),
              AllOf(HasSubstr("78: [plugin] two plugins have the same id: org.fake.alpha"), HasSubstr(first.string()),
                    HasSubstr(second.string())));
}

TEST_F(DiscoveryTest, RefusesTwoOfOneName) {
  install("alpha");
  install("other_alpha");
  EXPECT_THAT(refusal(in_folders({folder_.path()})), HasSubstr("two plugins have the same name: alpha"));
}

TEST_F(DiscoveryTest, ANamedFileReplacesOthersOfItsIdOrName) {
  install("alpha");
  Search search = in_folders({folder_.path()});
  search.files = {folder_.write("sub/alpha.so", "bytes")};
  EXPECT_EQ(discover(search, libraries_).plugins.at(0).library, search.files[0]);
  search.files = {folder_.write("sub/other_alpha.so", "bytes")};
  const Found found = discover(search, libraries_);
  ASSERT_EQ(found.plugins.size(), 1U);
  EXPECT_EQ(found.plugins[0].facts.id, "org.other.alpha");
}

TEST_F(DiscoveryTest, OneFolderTwiceIsNoConflict) {
  const auto library = install("alpha");
  Search search = in_folders({folder_.path(), folder_.path() / "." / "", folder_.path()});
  search.files = {library, library};
  EXPECT_THAT(names(discover(search, libraries_)), ElementsAre("alpha"));
}

TEST_F(DiscoveryTest, SaysWhatItTriedWhenAsked) {
  install("alpha");
  folder_.write("bare.so", "bytes");
  folder_.write("broken.titan.json", "{");
  Search search = in_folders({folder_.path(), "/nonexistent"});
  search.verbose = true;
  ::testing::internal::CaptureStderr();
  discover(search, libraries_);
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      AllOf(HasSubstr("alpha.so: found alpha 1.2.3"), HasSubstr("bare.so: skipped: no manifest"),
            HasSubstr("broken.titan.json: skipped: its manifest is broken"), HasSubstr("/nonexistent: skipped: ")));
}

TEST(DefaultSearch, ReadsTheEnvironment) {
  ::setenv("TITAN_PLUGIN_PATH", "/first::/tmp", 1);
  ::setenv("TITAN_PLUGIN_DEBUG", "1", 1);
  ::testing::internal::CaptureStderr();
  const Search search = default_search();
  ::unsetenv("TITAN_PLUGIN_PATH");
  ::unsetenv("TITAN_PLUGIN_DEBUG");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("no such folder in TITAN_PLUGIN_PATH: /first"));
  ASSERT_EQ(search.folders.size(), 3U);
  EXPECT_EQ(search.folders[0], "/first");
  EXPECT_EQ(search.folders[1], "/tmp");
  EXPECT_THAT(search.folders[2].string(), ::testing::EndsWith("/lib/titan/plugins"));
  EXPECT_TRUE(search.verbose);
  EXPECT_FALSE(default_search().verbose);
}

}  // namespace
}  // namespace titan::plugin
