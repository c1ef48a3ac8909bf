#include "core/plugin/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>

#include "core/base/abi_error.hpp"
#include "core/plugin/version_check.hpp"
#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::HasSubstr;
using testing::kAbsent;
using testing::make_option;
using testing::make_preset;

template <class Spec>
Facts describe_fake() {
  const titan_plugin_info* info = testing::FakePlugin<Spec>::query();
  return describe(*info, read_identity(info));
}

/// Why a fake plugin cannot be described: "exit code: reason".
template <class Spec>
std::string refusal() {
  try {
    describe_fake<Spec>();
    return {};
  } catch (const LoadProblem& problem) {
    EXPECT_FALSE(problem.remedy().empty());
    return concat(static_cast<int>(problem.exit()), ": ", problem.what());
  }
}

struct Named {
  static constexpr std::string_view kName = "fake";
};

struct Rich : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    const titan_string choices[] = {borrow("red"), borrow("blue")};
    titan_option color = make_option(TITAN_OPTION_STRING, "fake.color", borrow("red"));
    color.choices = choices;
    color.num_choices = 2;
    color.flags = TITAN_OPTION_MUST_MATCH | TITAN_OPTION_HIDDEN;
    titan_option rate = make_option(TITAN_OPTION_FLOAT, "fake.rate", kAbsent);
    rate.flags = TITAN_OPTION_NULLABLE | TITAN_OPTION_HAS_MIN | TITAN_OPTION_HAS_MAX | TITAN_OPTION_MIN_EXCLUSIVE;
    rate.max = 2;
    const titan_option list = make_option(TITAN_OPTION_STRINGS, "fake.list", borrow("a,b"));
    const titan_setting settings[] = {{borrow("fake.color"), borrow("blue")}};
    titan_preset blue = make_preset("blue", borrow("plain"));
    blue.settings = settings;
    blue.num_settings = 1;
    const titan_preset plain = make_preset("plain", kAbsent);
    for (const titan_option* option : std::initializer_list<const titan_option*>{&color, &rate, &list}) {
      if (titan_error* error = sink->option(sink->ctx, option)) return error;
    }
    if (titan_error* error = sink->preset(sink->ctx, &blue)) return error;
    if (titan_error* error = sink->preset(sink->ctx, &plain)) return error;
    return sink->provides(sink->ctx, borrow("titan.observer/1"));
  }
};

TEST(Describe, CopiesWhatIsEmitted) {
  const Facts facts = describe_fake<Rich>();
  ASSERT_EQ(facts.options.size(), 3U);
  const config::Option& color = facts.options[0];
  EXPECT_EQ(color.name, "fake.color");
  EXPECT_EQ(color.owner, "fake");
  EXPECT_EQ(color.help, "Helps.");
  EXPECT_EQ(color.default_value, config::Value("red"));
  EXPECT_EQ(color.choices, (std::vector<std::string>{"red", "blue"}));
  EXPECT_TRUE(color.must_match && color.hidden);
  EXPECT_FALSE(color.min.has_value());

  const config::Option& rate = facts.options[1];
  EXPECT_EQ(rate.type, config::Type::floating);
  EXPECT_EQ(rate.default_value, config::Value());
  EXPECT_EQ(rate.min, 0.0);
  EXPECT_EQ(rate.max, 2.0);
  EXPECT_TRUE(rate.min_exclusive && rate.nullable);
  EXPECT_EQ(facts.options[2].default_value, config::Value(std::vector<std::string>{"a", "b"}));

  ASSERT_EQ(facts.presets.size(), 2U);
  EXPECT_EQ(facts.presets[0].base, "plain");
  EXPECT_EQ(facts.presets[0].settings[0].value, "blue");
  EXPECT_EQ(facts.presets[1].base, "");
  EXPECT_TRUE(facts.provides_interface("titan.observer/1"));
}

struct Fails : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return sink->error_new(sink->ctx, TITAN_ERROR_RESOURCE, borrow("no room"));
  }
};

struct Throws : Named {
  static titan_error* describe(const titan_describe_sink*) { throw std::runtime_error("boom"); }
};

struct ThrowsAnInt : Named {
  static titan_error* describe(const titan_describe_sink*) { throw 7; }
};

TEST(Describe, ReportsWhatThePluginReports) { EXPECT_EQ(refusal<Fails>(), "71: describe: no room"); }

TEST(Describe, ContainsExceptions) {
  EXPECT_EQ(refusal<Throws>(), "70: describe: a C++ exception crossed the plugin boundary: boom");
  EXPECT_EQ(refusal<ThrowsAnInt>(), "70: describe: a C++ exception crossed the plugin boundary");
}

template <class Change>
titan_error* emit_option(const titan_describe_sink* sink, Change change) {
  titan_option option = make_option(TITAN_OPTION_INT, "fake.count", borrow("1"));
  change(option);
  return sink->option(sink->ctx, &option);
}

struct ShortOption : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return emit_option(sink, [](auto& option) { option.struct_size = 24; });
  }
};
struct UnknownType : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return emit_option(sink, [](auto& option) { option.type = 99; });
  }
};
struct NoDefault : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return emit_option(sink, [](auto& option) { option.default_text = kAbsent; });
  }
};
struct WrongDefault : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return emit_option(sink, [](auto& option) { option.default_text = borrow("many"); });
  }
};
struct NoChoices : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return emit_option(sink, [](auto& option) { option.num_choices = 2; });
  }
};
struct NotText : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    return emit_option(sink, [](auto& option) { option.help = borrow("\xff\xfe"); });
  }
};
struct Twice : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    if (titan_error* error = emit_option(sink, [](auto&) {})) return error;
    return emit_option(sink, [](auto&) {});
  }
};

TEST(Describe, RefusesMalformedOptions) {
  EXPECT_THAT(refusal<ShortOption>(), HasSubstr(concat("76: struct titan_option is too small: 24 bytes, at least ",
                                                       sizeof(titan_option), " are needed")));
  EXPECT_THAT(refusal<UnknownType>(), HasSubstr("70: option fake.count has an unknown type: 99"));
  EXPECT_THAT(refusal<NoDefault>(), HasSubstr("fake.count has no default and is not nullable"));
  EXPECT_THAT(refusal<WrongDefault>(), HasSubstr("70: option fake.count has a wrong default: expected an integer"));
  EXPECT_THAT(refusal<NoChoices>(), HasSubstr("choices are announced but absent: 2"));
  EXPECT_THAT(refusal<NotText>(), HasSubstr("fake.count is not UTF-8"));
  EXPECT_THAT(refusal<Twice>(), HasSubstr("70: it declares an option twice: fake.count"));
}

struct IgnoresErrors : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    delete_abi_error(emit_option(sink, [](auto& option) { option.type = 99; }));
    return nullptr;
  }
};
struct RewritesErrors : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    delete_abi_error(emit_option(sink, [](auto& option) { option.type = 99; }));
    return sink->error_new(sink->ctx, TITAN_ERROR_INTERNAL, borrow("something"));
  }
};

TEST(Describe, ReportsTheFirstRefusalWhateverThePluginMakesOfIt) {
  EXPECT_THAT(refusal<IgnoresErrors>(), HasSubstr("unknown type: 99"));
  EXPECT_THAT(refusal<RewritesErrors>(), HasSubstr("unknown type: 99"));
}

struct ShortPreset : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    titan_preset preset = make_preset("p", kAbsent);
    preset.struct_size = 8;
    return sink->preset(sink->ctx, &preset);
  }
};
struct Circular : Named {
  static titan_error* describe(const titan_describe_sink* sink) {
    const titan_preset one = make_preset("one", borrow("two"));
    const titan_preset two = make_preset("two", borrow("one"));
    if (titan_error* error = sink->preset(sink->ctx, &one)) return error;
    return sink->preset(sink->ctx, &two);
  }
};

TEST(Describe, RefusesMalformedPresets) {
  EXPECT_THAT(refusal<ShortPreset>(), HasSubstr("76: struct titan_preset is too small: 8 bytes"));
  EXPECT_THAT(refusal<Circular>(), HasSubstr("70: preset one is based on itself"));
}

}  // namespace
}  // namespace titan::plugin
