#include "core/plugin/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string failures(const CheckReport& report) {
  std::string out;
  for (const auto& line : report.lines) {
    if (!line.passed) out += concat(line.rule, ": ", line.detail, "\n");
  }
  return out;
}

/// A copy of the real plugin's file, so that the checks of the file pass, that opens as a plugin of this program.
template <class Spec>
CheckReport check_fake() {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / concat(Spec::kName, ".so");
  std::filesystem::copy_file(TITAN_TEST_PLUGIN, file);
  testing::FakeLibraries libraries;
  libraries.add(file.filename().string(), &testing::FakePlugin<Spec>::query);
  return check(file, {}, libraries);
}

TEST(Check, PassesTheSmallestExample) {
  const CheckReport report = check(TITAN_TEST_PLUGIN, {});
  EXPECT_TRUE(report.passed()) << check_text(report);
  EXPECT_EQ(report.lines.size(), 11U) << check_text(report);
  EXPECT_THAT(check_text(report), AllOf(HasSubstr("ok      exports titan_plugin_query_v1 and nothing else\n"),
                                        HasSubstr("has a manifest that is true"), HasSubstr("the plugin is fine\n")));
}

TEST(Check, StopsWhereNothingMoreCanBeSaid) {
  const CheckReport report = check("/nonexistent.so", {});
  EXPECT_FALSE(report.passed());
  ASSERT_EQ(report.lines.size(), 1U);
  EXPECT_THAT(check_text(report), AllOf(HasSubstr("FAILED  is a whole ELF library"), HasSubstr("no such file"),
                                        HasSubstr("breaks the contract")));
}

TEST(Check, NamesWhatAnotherLibraryLacks) {
  const std::string failed = failures(check(TITAN_TEST_OTHER_LIBRARY, {}));
  EXPECT_THAT(failed, AllOf(HasSubstr("nothing else: it exports 1 symbols: plain_library_answer"),
                            HasSubstr("fits this titan: it is not a titan plugin")));
}

struct Fickle {
  static constexpr std::string_view kName = "fickle";
  static titan_error* describe(const titan_describe_sink* sink) {
    static int calls = 0;
    const std::string name = concat("fickle.", ++calls);
    const titan_option option = testing::make_option(TITAN_OPTION_INT, name, borrow("1"));
    return sink->option(sink->ctx, &option);
  }
};

TEST(Check, NoticesAChangingDescription) {
  EXPECT_THAT(failures(check_fake<Fickle>()), HasSubstr("describes itself twice the same: the second"));
}

struct Thief {
  static constexpr std::string_view kName = "thief";
  static titan_error* describe(const titan_describe_sink* sink) {
    const titan_option option = testing::make_option(TITAN_OPTION_INT, "training.steps", borrow("1"));
    return sink->option(sink->ctx, &option);
  }
};

TEST(Check, NoticesATakenOption) {
  EXPECT_THAT(failures(check_fake<Thief>()), AllOf(HasSubstr("free and valid: "), HasSubstr("training.steps")));
}

struct Dreamer {
  static constexpr std::string_view kName = "dreamer";
  static titan_error* describe(const titan_describe_sink* sink) {
    const titan_setting setting{borrow("training.steps"), borrow("many")};
    titan_preset preset = testing::make_preset("dream", testing::kAbsent);
    preset.settings = &setting;
    preset.num_settings = 1;
    return sink->preset(sink->ctx, &preset);
  }
};

TEST(Check, NoticesAPresetThatDoesNotResolve) {
  EXPECT_THAT(failures(check_fake<Dreamer>()), AllOf(HasSubstr("presets that resolve: "), HasSubstr("training.steps")));
}

}  // namespace
}  // namespace titan::plugin
