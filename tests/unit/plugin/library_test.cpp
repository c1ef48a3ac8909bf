#include "core/plugin/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files.hpp"
#include "core/base/text.hpp"
#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::filesystem::path& file) {
  try {
    system_libraries().open(file);
    return {};
  } catch (const LoadProblem& problem) {
    return concat(static_cast<int>(problem.exit()), ": ", problem.what());
  }
}

TEST(SystemLibraries, OpensARealPlugin) {
  const titan_plugin_query_fn query = system_libraries().open(TITAN_TEST_PLUGIN);
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(query()->magic, TITAN_PLUGIN_MAGIC);
  EXPECT_EQ(system_libraries().open(TITAN_TEST_PLUGIN), query);
}

TEST(SystemLibraries, OpensARelativePath) {
  const auto relative = std::filesystem::relative(TITAN_TEST_PLUGIN);
  EXPECT_EQ(system_libraries().open(relative), system_libraries().open(TITAN_TEST_PLUGIN));
}

TEST(SystemLibraries, RefusesOtherLibraries) {
  EXPECT_THAT(refusal(TITAN_TEST_OTHER_LIBRARY), HasSubstr("76: it is not a titan plugin: it has no titan ABI note"));
}

TEST(SystemLibraries, RefusesATruncatedCopyWithoutOpeningIt) {
  const testing::TemporaryFolder folder;
  const std::string bytes = read_file(TITAN_TEST_PLUGIN, std::uint64_t{1} << 24U);
  for (const std::size_t size : {std::size_t{3000}, std::size_t{12000}, bytes.size() - 1}) {
    EXPECT_THAT(refusal(folder.write("cut.so", bytes.substr(0, size))), HasSubstr("76: the file is truncated"));
  }
}

TEST(SystemLibraries, RefusesWhatIsNotThere) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path() / "gone.so"), HasSubstr("66: there is no such file"));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("66: it is a folder"));
}

}  // namespace
}  // namespace titan::plugin
