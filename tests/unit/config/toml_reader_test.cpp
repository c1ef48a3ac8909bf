#include "core/config/toml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <ctime>
#include <random>

#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using test::TemporaryFolder;
using test::Thrown;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Place and value of a member, as "line:column key @line:column".
std::string place(const TomlMember& member) {
  const auto at = [](TextPosition p) { return std::to_string(p.line) + ":" + std::to_string(p.column); };
  return at(member.position) + " " + member.key + " @" + at(member.value.position);
}

const TomlTable& table_of(const TomlMember& member) { return std::get<TomlTable>(member.value.content); }

std::string refusal(const std::string& text) {
  const Thrown thrown = test::thrown_by([&] { return read_toml(text, "x.toml"); });
  EXPECT_EQ(thrown.exit, Exit::config) << text;
  return thrown.message;
}

TEST(TomlReaderTest, ReadsEveryType) {
  const TomlTable root = read_toml(
      "t = true\ni = -1_000\nx = 0xFF\no = 0o17\nb = 0b101\nf = 2.5e-3\ns = \"a\\u00fc\\n\"\nl = 'c:\\d'\n"
      "m = \"\"\"\nx\ny\"\"\"\nd = 2026-01-31T12:00:00Z\na = [1, [2.0, \"z\"]]\nn = {k = 1}\n",
      "x.toml");
  ASSERT_EQ(root.size(), 12U);
  EXPECT_EQ(std::get<bool>(root[0].value.content), true);
  EXPECT_EQ(std::get<std::int64_t>(root[1].value.content), -1000);
  EXPECT_EQ(std::get<std::int64_t>(root[2].value.content), 255);
  EXPECT_EQ(std::get<std::int64_t>(root[3].value.content), 15);
  EXPECT_EQ(std::get<std::int64_t>(root[4].value.content), 5);
  EXPECT_EQ(std::get<double>(root[5].value.content), 2.5e-3);
  EXPECT_EQ(std::get<std::string>(root[6].value.content), "aü\n");
  EXPECT_EQ(std::get<std::string>(root[7].value.content), "c:\\d");
  EXPECT_EQ(std::get<std::string>(root[8].value.content), "x\ny");
  EXPECT_TRUE(std::holds_alternative<TomlDate>(root[9].value.content));
  EXPECT_EQ(std::get<TomlArray>(root[10].value.content).size(), 2U);
  EXPECT_EQ(table_of(root[11]).at(0).key, "k");
}

TEST(TomlReaderTest, KnowsWhereEverythingStands) {
  const TomlTable root = read_toml(
      "# comment\ntop = 1\n[a]\n  steps = 10 # x\n\"q k\" . b = 2\n[[g.c]]\nx = {y = 1, z = [\n 1,\n 2]}\n[[g.c]]\n",
      "x.toml");
  ASSERT_EQ(root.size(), 3U);
  EXPECT_EQ(place(root[0]), "2:1 top @2:7");
  EXPECT_EQ(place(root[1]), "3:1 a @3:1");
  EXPECT_EQ(place(table_of(root[1]).at(0)), "4:3 steps @4:11");
  EXPECT_EQ(place(table_of(root[1]).at(1)), "5:1 q k @5:1");
  const TomlMember& array = table_of(root[2]).at(0);
  EXPECT_EQ(place(array), "6:1 c @6:1");
  const TomlTable& first = std::get<TomlTable>(std::get<TomlArray>(array.value.content).at(0).content);
  EXPECT_EQ(place(first.at(0)), "7:1 x @7:5");
  EXPECT_EQ(place(table_of(first.at(0)).at(0)), "7:6 y @7:10");
  EXPECT_EQ(place(table_of(first.at(0)).at(1)), "7:13 z @7:17");
}

TEST(TomlReaderTest, ByteOrderMarkAndCarriageReturnsAreNoContent) {
  const TomlTable root = read_toml(
      "\xef\xbb\xbf"
      "a = 1\r\n[b]\r\nc = \"x\"\r\n",
      "x.toml");
  ASSERT_EQ(root.size(), 2U);
  EXPECT_EQ(place(root[0]), "1:1 a @1:5");
  EXPECT_EQ(std::get<std::string>(table_of(root[1]).at(0).value.content), "x");
}

TEST(TomlReaderTest, EmptyFilesAreEmptyTables) {
  for (const char* text : {"", "\n", "# nothing", "\xef\xbb\xbf", "\r\n"}) {
    EXPECT_TRUE(read_toml(text, "x.toml").empty()) << text;
  }
}

TEST(TomlReaderTest, SyntaxErrorsNameTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a = ", "1:5"},
      {"a = 1\nb = tru", "2:5"},
      {"a = 1\n\nb = [1, 2", "4:1"},
      {"ok = 1\n[a\nb = 1", "2:1"},
      {"a = \"x", "1:5"},
      {"a b = 1", "1:2"},
      {"a = 1 2", "1:7"},
      {"= 1", "1:1"},
      {"a = \"\\q\"", "1:5"},
      {"a = 01", "1:5"},
      {"a = 1__0", "1:"},
      {"a = .5", "1:5"},
      {"a = {b = 1,}", "1:"},
      {"a = \"\\ud800\"", "1:"},
      {"a = 1979-13-45", "1:"},
      {"a", "1:"},
      {"\"a = 1", "1:"},
  };
  for (const auto& [text, at] : cases) EXPECT_THAT(refusal(text), StartsWith("x.toml:" + at)) << text;
}

TEST(TomlReaderTest, DuplicatesAreErrors) {
  EXPECT_THAT(refusal("a = 1\na = 2"), StartsWith("x.toml:2:5: invalid TOML: value (\"a\") already exists"));
  EXPECT_THAT(refusal("[a]\n[a]"), StartsWith("x.toml:2:1: invalid TOML: table (\"a\") already exists"));
  EXPECT_THAT(refusal("a.b = 1\na = 2"), StartsWith("x.toml:2:5"));
  EXPECT_THAT(refusal("[[a]]\n[a]"), StartsWith("x.toml:2:1"));
}

TEST(TomlReaderTest, NumbersThatDoNotFitAreErrors) {
  EXPECT_EQ(refusal("x = 1\na = 99999999999999999999"), "x.toml:2:5: invalid TOML: integer does not fit 64 bits");
  EXPECT_EQ(refusal("a = 0xFFFFFFFFFFFFFFFFF"), "x.toml:1:5: invalid TOML: integer does not fit 64 bits");
  EXPECT_EQ(refusal("a = [1, 1e400]"), "x.toml:1:9: invalid TOML: number does not fit a double");
  EXPECT_EQ(std::get<std::int64_t>(read_toml("a = -9223372036854775808", "x").at(0).value.content), INT64_MIN);
  EXPECT_TRUE(std::isinf(std::get<double>(read_toml("a = -inf", "x").at(0).value.content)));
  EXPECT_TRUE(std::isnan(std::get<double>(read_toml("a = +nan", "x").at(0).value.content)));
}

TEST(TomlReaderTest, UnreadableFilesAreNoInput) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo.toml").c_str(), 0600), 0);
  std::filesystem::create_directory(folder / "folder.toml");
  for (const char* name : {"missing.toml", "fifo.toml", "folder.toml"}) {
    const Thrown thrown = test::thrown_by([&] { return read_toml_file(folder / name); });
    EXPECT_EQ(thrown.exit, Exit::no_input) << name;
    EXPECT_THAT(thrown.message, HasSubstr(name));
  }
}

TEST(TomlReaderTest, HugeFilesAreRefusedUnread) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.toml", "");
  std::filesystem::resize_file(path, 100'000'000);
  const Thrown thrown = test::thrown_by([&] { return read_toml_file(path); });
  EXPECT_EQ(thrown.exit, Exit::config);
  EXPECT_EQ(thrown.message, path.string() + ": larger than 1048576 bytes");
}

TEST(TomlReaderTest, LargestAllowedFilesAreRead) {
  std::string keys;
  for (int i = 0; i < 3000; ++i) keys += concat("key_", i, " = ", i, "\n");
  EXPECT_EQ(read_toml(keys, "x").size(), 3000U);
  const std::string text(kTomlMaxBytes - 10, 'x');
  EXPECT_EQ(std::get<std::string>(read_toml(concat("a = \"", text, "\""), "x").at(0).value.content), text);
  std::string deep = "a = ";
  deep += std::string(32, '[') + std::string(32, ']');
  EXPECT_EQ(read_toml(deep, "x").size(), 1U);
}

/// Whatever bytes come, the reader answers with a table or a ConfigError.
TEST(TomlReaderTest, MutatedFilesNeverCrash) {
  const std::string seed =
      "module = \"llama3\"\n[training]\nsteps = 10\nlr = 1e-3\n[[optimizer.param_groups]]\npattern = '.*'\n"
      "kwargs = {lr = 1.0, list = [1, 2, \"\"\"x\ny\"\"\"]}\ndate = 2026-01-31\n\"quoted.key\" = \"\\u00fc\"\n";
  using namespace std::string_literals;
  const std::string bytes = "\0\xff\"'[]{}=.,#\n\r\t \\_-+eEnNuUxX019"s;
  std::mt19937 random(12345);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::size_t accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = seed;
    for (std::size_t edits = 1 + pick(4); edits > 0; --edits) {
      const std::size_t at = pick(text.size());
      if (pick(3) == 0) text.erase(at, 1 + pick(5));
      if (pick(3) == 0) text.insert(at, 1, bytes[pick(bytes.size())]);
      if (pick(3) == 0 && at < text.size()) text[at] = bytes[pick(bytes.size())];
      if (pick(9) == 0) text += text.substr(at);
      if (text.empty()) text.push_back('x');
    }
    try {
      static_cast<void>(read_toml(text, "x.toml"));
      ++accepted;
    } catch (const ConfigError& error) {
      ASSERT_THAT(error.what(), StartsWith("x.toml:")) << text;
    }
  }
  EXPECT_GT(accepted, 50U);
}

/// Files made to be slow: each took the library minutes, or all memory, without the limits.
TEST(TomlReaderTest, HostileFilesAreAnsweredSoon) {
  const auto repeated = [](const std::string& text, std::size_t count) {
    std::string out;
    while (out.size() < count * text.size()) out += text;
    return out;
  };
  std::string inline_table = "a = {";
  for (int i = 0; i < 1900; ++i) inline_table += concat("k", i, "=1,");
  std::string headers;
  for (int i = 0; i < 3900; ++i) headers += concat("[a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.x", i, "]\n");
  const std::vector<std::string> texts = {"a = [" + repeated("1,", 500'000) + "]",
                                          "a = [" + repeated("1,", 3990) + "]",
                                          inline_table + "z=1}",
                                          headers,
                                          concat("a = ", repeated("[", 500'000)),
                                          repeated("a.", 500'000) + "a = 1",
                                          repeated("\n", 1'000'000),
                                          concat("a = ", repeated("1", 1'000'000)),
                                          repeated("[[a]]\n", 150'000),
                                          repeated("a=1\n", 250'000)};
  for (const std::string& text : texts) {
    const std::clock_t begin = std::clock();
    try {
      static_cast<void>(read_toml(text, "x.toml"));
    } catch (const ConfigError&) {  // NOLINT(bugprone-empty-catch): either answer will do
    }
    EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace titan::config
