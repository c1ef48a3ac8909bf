#include "core/config/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class SourcesTest : public ::testing::Test {
 protected:
  Sources read(const std::filesystem::path& config, const std::string& module = "") {
    problems_ = Problems();
    return read_sources(module, config.string(), problems_);
  }

  std::string complaint(const std::filesystem::path& config) {
    static_cast<void>(read(config));
    return test::thrown_by([&] { return problems_.throw_if_any(), 0; }).message;
  }

  test::TemporaryFolder folder_;
  Problems problems_;
};

TEST_F(SourcesTest, NothingAndPresets) {
  EXPECT_EQ(read("").preset, "");
  const Sources sources = read("llama3_8b", "llama3");
  EXPECT_EQ(sources.module, "llama3");
  EXPECT_EQ(sources.preset, "llama3_8b");
  EXPECT_EQ(sources.preset_place, "--config");
  EXPECT_TRUE(sources.files.empty());
}

TEST_F(SourcesTest, FilesNameTheirBases) {
  std::filesystem::create_directory(folder_ / "sub");
  const auto top = folder_.write("top.toml", "x = 1\nconfig = \"sub/middle.toml\"\n");
  folder_.write("sub/middle.toml", "module = 'llama3'\n  config = '../base.toml'\n");
  folder_.write("base.toml", "module = 'other'\nconfig = 'llama3_8b'\n");
  const Sources sources = read(top);
  EXPECT_EQ(sources.module, "llama3") << "the file nearest to the command line counts";
  EXPECT_EQ(sources.preset, "llama3_8b");
  EXPECT_THAT(sources.preset_place, EndsWith("base.toml:2:1: config"));
  ASSERT_EQ(sources.files.size(), 3U);
  EXPECT_EQ(sources.files[0].name, folder_ / "base.toml") << "base first, names without ..";
  EXPECT_EQ(sources.files[2].name, top);
  EXPECT_EQ(read(top, "mixtral").module, "mixtral") << "--module wins";
}

TEST_F(SourcesTest, HubFiles) {
  const auto hub = folder_.write("config.json", "{\"hidden_size\": 1}");
  const Sources sources = read(hub);
  EXPECT_EQ(sources.hub_file, hub);
  EXPECT_EQ(sources.hub_text, "{\"hidden_size\": 1}");
  EXPECT_EQ(sources.preset, "");
  EXPECT_EQ(read(folder_.write("top.toml", "config = 'config.json'")).hub_file, hub);
}

TEST_F(SourcesTest, CirclesAreRefused) {
  folder_.write("a.toml", "config = 'b.toml'");
  folder_.write("b.toml", "config = './a.toml'");
  EXPECT_THAT(complaint(folder_ / "a.toml"), HasSubstr("b.toml:1:1: config: file is its own base: "));
  folder_.write("self.toml", "config = 'self.toml'");
  EXPECT_THAT(complaint(folder_ / "self.toml"), HasSubstr("self.toml:1:1: config: file is its own base"));
}

TEST_F(SourcesTest, LongChainsAreRefused) {
  for (int i = 0; i < 40; ++i) {
    folder_.write(std::to_string(i) + ".toml", "config = '" + std::to_string(i + 1) + ".toml'");
  }
  EXPECT_THAT(complaint(folder_ / "0.toml"), HasSubstr("15.toml:1:1: config: too many files stand on each other"));
}

TEST_F(SourcesTest, HeadMustBeText) {
  const auto path = folder_.write("x.toml", "module = 1\nconfig = ['a']");
  EXPECT_THAT(complaint(path), HasSubstr("x.toml:1:1: module: expected a text"));
  EXPECT_THAT(complaint(path), HasSubstr("x.toml:2:1: config: expected a text"));
}

TEST_F(SourcesTest, BrokenFilesAreCollectedMissingOnesAreThrown) {
  EXPECT_THAT(complaint(folder_.write("x.toml", "a = ")), HasSubstr("x.toml:1:5: invalid TOML"));
  EXPECT_THROW(read(folder_ / "missing.toml"), InputError);
  EXPECT_THROW(read(folder_ / "missing.json"), InputError);
  EXPECT_THROW(read(folder_.write("y.toml", "config = 'missing.toml'")), InputError);
}

}  // namespace
}  // namespace titan::config
