#include "core/base/plugin_call.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "core/base/quit.hpp"
#include "tests/unit/base/thrown.hpp"

struct titan_error {
  std::int32_t code;
  std::string text;
  bool released = false;
};

namespace titan {
namespace {

using test::Thrown;
using test::thrown_by;

titan_host make_host() {
  titan_host host{};
  host.struct_size = sizeof host;
  host.error_code = [](const titan_host*, const titan_error* error) { return error->code; };
  host.error_text = [](const titan_host*, const titan_error* error) {
    return titan_string{error->text.data(), error->text.size()};
  };
  host.error_release = [](const titan_host*, titan_error* error) { error->released = true; };
  return host;
}

Thrown thrown_for(titan_error& error) {
  const titan_host host = make_host();
  return thrown_by([&] { return throw_plugin_error(&host, &error, "llama3", "build"), 0; });
}

TEST(PluginCallTest, SuccessReturnsAndClearsTheBreadcrumb) {
  const titan_host host = make_host();
  const char* during = nullptr;
  plugin_call(&host, "llama3", "build", [&]() -> titan_error* {
    during = breadcrumb().callback;
    return nullptr;
  });
  EXPECT_STREQ(during, "build");
  EXPECT_EQ(breadcrumb().plugin, nullptr);
}

TEST(PluginCallTest, EveryCodeBecomesItsError) {
  for (const int code : {64, 65, 66, 69, 70, 71, 73, 74, 75, 76, 77, 78, 80}) {
    titan_error error{code, "why"};
    const Thrown thrown = thrown_for(error);
    EXPECT_EQ(static_cast<int>(thrown.exit), code);
    EXPECT_EQ(thrown.message, "[llama3] build: why");
    EXPECT_TRUE(error.released);
  }
}

TEST(PluginCallTest, ClassesAreDistinguishable) {
  const titan_host host = make_host();
  titan_error error{TITAN_ERROR_CONFIG, "why"};
  EXPECT_THROW(throw_plugin_error(&host, &error, "p", "c"), ConfigError);
  error.code = TITAN_ERROR_DATA;
  EXPECT_THROW(throw_plugin_error(&host, &error, "p", "c"), DataError);
}

TEST(PluginCallTest, WhoQuitsAtAPromptIsToldFromASignal) {
  const titan_host host = make_host();
  titan_error error{TITAN_ERROR_QUIT, "why"};
  EXPECT_THROW(throw_plugin_error(&host, &error, "p", "c"), Quit);
}

TEST(PluginCallTest, UnknownCodeIsThePluginsFault) {
  for (const int code : {0, 1, 63, 255, -1}) {
    titan_error error{code, "why"};
    const Thrown thrown = thrown_for(error);
    EXPECT_EQ(thrown.exit, Exit::internal);
    EXPECT_NE(thrown.message.find(concat("unknown error code ", code)), std::string::npos) << thrown.message;
  }
}

TEST(PluginCallTest, HostileTextIsEscapedAndCut) {
  titan_error error{TITAN_ERROR_DATA, "a\n\x1b[2J" + std::string(10'000'000, 'x')};
  const Thrown thrown = thrown_for(error);
  EXPECT_LT(thrown.message.size(), 5000U);
  EXPECT_EQ(thrown.message.find('\n'), std::string::npos);
  EXPECT_EQ(thrown.message.find('\x1b'), std::string::npos);
}

TEST(PluginCallTest, IndentedLinesStayLines) {
  titan_error error{TITAN_ERROR_UNAVAILABLE, "lost\n  rank 1 \x1b\n  rank 2\n[rank0] step: 3"};
  EXPECT_EQ(thrown_for(error).message, "[llama3] build: lost\n  rank 1 \\x1b\n  rank 2\\n[rank0] step: 3");
}

TEST(PluginCallTest, EscapedExceptionsNameThePlugin) {
  const titan_host host = make_host();
  const Thrown standard = thrown_by(
      [&] { return plugin_call(&host, "bad", "init", []() -> titan_error* { throw std::runtime_error("oops"); }), 0; });
  EXPECT_EQ(standard.exit, Exit::internal);
  EXPECT_EQ(standard.message, "[bad] init: a C++ exception crossed the plugin boundary: oops");
  const Thrown other =
      thrown_by([&] { return plugin_call(&host, "bad", "init", []() -> titan_error* { throw 7; }), 0; });
  EXPECT_EQ(other.message, "[bad] init: a C++ exception crossed the plugin boundary");
  EXPECT_EQ(breadcrumb().plugin, nullptr);
}

}  // namespace
}  // namespace titan
