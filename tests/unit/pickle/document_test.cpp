#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/pickle/document.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::pickle {
namespace {

using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using titan::testing::error_text;

constexpr std::array<std::string_view, 3> kAllowed = {"torch.Size", "collections.OrderedDict", "a.b.C"};

Document read(std::string_view bytes) { return Document::read(std::string(bytes), kAllowed, "there/x.pkl"); }

std::string error_of(std::string_view bytes) {
  return error_text<DataError>([&] { read(bytes); });
}

std::string repeated(std::string_view bytes, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

TEST(DocumentTest, ValuesAndListsAreBoundedByTheBytes) {
  const auto list_of = [](std::string_view item, std::size_t times) {
    return "\x80\x02](" + repeated(item, times) + "e.";
  };
  EXPECT_NO_THROW(read(list_of("M\x01\x01\x58\x04\x00\x00\x00text"sv, 10'000)));
  EXPECT_THAT(error_of(list_of("K\x01", 10'000)), HasSubstr("too many values"));
  EXPECT_NO_THROW(read(list_of("]\x58\x10\x00\x00\x00 of sixteen bytea"sv, 10'000)));
  EXPECT_THAT(error_of(list_of("]\x58\x04\x00\x00\x00texta"sv, 10'000)), HasSubstr("too many lists"));
}

TEST(DocumentTest, Constants) {
  EXPECT_TRUE(read("\x80\x02N."sv).root().is_none());
  EXPECT_EQ(read("\x80\x02\x88."sv).root().boolean(), true);
  EXPECT_EQ(read("\x80\x02\x89."sv).root().boolean(), false);
  EXPECT_EQ(read("\x80\x02K\xff."sv).root().integer(), 255);
  EXPECT_EQ(read("\x80\x02M\xff\xff."sv).root().integer(), 65535);
  EXPECT_EQ(read("\x80\x02J\xfe\xff\xff\xff."sv).root().integer(), -2);
  EXPECT_EQ(read("\x80\x02\x8a\x00."sv).root().integer(), 0);
  EXPECT_EQ(read("\x80\x02\x8a\x01\xff."sv).root().integer(), -1);
  EXPECT_EQ(read("\x80\x02\x8a\x05\x00\x00\x00\x00\x01."sv).root().integer(), std::int64_t{1} << 32U);
  EXPECT_EQ(read("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."sv).root().integer(), INT64_MIN);
  EXPECT_EQ(read("\x80\x02G\x3f\xe0\x00\x00\x00\x00\x00\x00."sv).root().real(), 0.5);
}

TEST(DocumentTest, Strings) {
  EXPECT_EQ(read("\x80\x04\x8c\x02hi."sv).root().text(), "hi");
  EXPECT_EQ(read("\x80\x02X\x02\x00\x00\x00hi."sv).root().text(), "hi");
  EXPECT_EQ(read("\x80\x04\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi."sv).root().text(), "hi");
  EXPECT_EQ(read("\x80\x03"
                 "C\x02\xff\x00."sv)
                .root()
                .bytes(),
            "\xff\x00"sv);
  EXPECT_EQ(read("\x80\x03"
                 "B\x01\x00\x00\x00\xff."sv)
                .root()
                .bytes(),
            "\xff");
  EXPECT_EQ(read("\x80\x04\x8e\x01\x00\x00\x00\x00\x00\x00\x00z."sv).root().bytes(), "z");
  EXPECT_THAT(error_of("\x80\x04\x8c\x01\xff."sv), HasSubstr("a text is not UTF-8, at byte 2"));
}

TEST(DocumentTest, Containers) {
  const Document tuple = read("\x80\x02(K\x01K\x02t."sv);
  ASSERT_EQ(tuple.root().kind(), Kind::tuple);
  ASSERT_EQ(tuple.root().size(), 2U);
  EXPECT_EQ(tuple.root().item(1).integer(), 2);
  EXPECT_EQ(read("\x80\x02)."sv).root().size(), 0U);
  EXPECT_EQ(read("\x80\x02K\x01\x85."sv).root().size(), 1U);
  EXPECT_EQ(read("\x80\x02K\x01K\x02\x86."sv).root().size(), 2U);
  EXPECT_EQ(read("\x80\x02K\x01K\x02K\x03\x87."sv).root().item(2).integer(), 3);

  const Document list = read(
      "\x80\x02]K\x01"
      "a(K\x02K\x03"
      "e."sv);
  ASSERT_EQ(list.root().kind(), Kind::list);
  ASSERT_EQ(list.root().size(), 3U);
  EXPECT_EQ(list.root().item(2).integer(), 3);

  const Document dict = read("\x80\x02}\x8c\x01xK\x01s(\x8c\x01yK\x02u."sv);
  ASSERT_EQ(dict.root().kind(), Kind::dict);
  ASSERT_EQ(dict.root().size(), 2U);
  EXPECT_EQ(dict.root().key(1).text(), "y");
  EXPECT_EQ(dict.root().field("y")->integer(), 2);
  EXPECT_FALSE(dict.root().field("z"));
  EXPECT_EQ(read("\x80\x02]."sv).root().size(), 0U);
}

TEST(DocumentTest, NamesAreNotLookedUp) {
  const Document call = read(
      "\x80\x02"
      "ctorch\nSize\nK\x03\x85\x85R."sv);
  EXPECT_EQ(call.root().kind(), Kind::call);
  EXPECT_EQ(call.root().name(), "torch.Size");
  EXPECT_EQ(call.root().argument()->item(0).item(0).integer(), 3);

  const Document object = read(
      "\x80\x04\x8c\x03"
      "a.b\x8c\x01"
      "C\x93)\x81}\x8c\x01xK\x07sb."sv);
  EXPECT_EQ(object.root().kind(), Kind::object);
  EXPECT_EQ(object.root().name(), "a.b.C");
  EXPECT_EQ(object.root().field("x")->integer(), 7);

  EXPECT_EQ(read("\x80\x02"
                 "ccollections\nOrderedDict\n)R(K\x01K\x02u."sv)
                .root()
                .kind(),
            Kind::dict);
  EXPECT_EQ(read("\x80\x02K\x01Q."sv).root().argument()->integer(), 1);
}

TEST(DocumentTest, Memo) {
  EXPECT_EQ(read("\x80\x02K\x05q\x00h\x00\x86."sv).root().item(1).integer(), 5);
  EXPECT_EQ(read("\x80\x04K\x05\x94j\x00\x00\x00\x00\x86."sv).root().item(1).integer(), 5);
  EXPECT_EQ(read("\x80\x02K\x05r\x00\x00\x00\x00h\x00\x86."sv).root().item(1).integer(), 5);
  EXPECT_THAT(error_of("\x80\x02h\x00."sv), HasSubstr("an unknown memo 0"));
  EXPECT_THAT(error_of("\x80\x02K\x05r\xff\xff\xff\xff."sv), HasSubstr("memo 4294967295 is out of order"));
  EXPECT_THAT(error_of("\x80\x02q\x00."sv), HasSubstr("values are missing"));
}

TEST(DocumentTest, AListMayHoldItself) {
  const Document pickle = read(
      "\x80\x02]q\x00h\x00"
      "a."sv);
  EXPECT_EQ(pickle.root().item(0).item(0).item(0).size(), 1U);
}

TEST(DocumentTest, RefusesOtherNamesByName) {
  EXPECT_THAT(error_of("\x80\x02"
                       "cposix\nsystem\n)R."sv),
              AllOf(HasSubstr("[pickle] not understood: there/x.pkl: "),
                    EndsWith("it names what does not belong here: posix.system, at byte 2")));
  EXPECT_THAT(error_of("\x80\x04\x8c\x08"
                       "builtins\x8c\x04"
                       "eval\x93."sv),
              HasSubstr("does not belong here: builtins.eval"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ctorch\nSize2\n."sv),
              HasSubstr("torch.Size2"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ctorch.\nSize\n."sv),
              HasSubstr("torch..Size"));
  EXPECT_THAT(error_of("\x80\x02"
                       "c\x1b[31m\n\n."sv),
              HasSubstr("\\x1b[31m"));
  EXPECT_THAT(error_of("\x80\x02"
                       "c" +
                       std::string(100000, 'x') + "\ny\n."),
              HasSubstr("does not belong here: xxxx"));
}

TEST(DocumentTest, RefusesWhatTorchDoesNotWrite) {
  // INST, OBJ, EXT1, PERSID, POP, DUP, GET, NEWOBJ_EX, EMPTY_SET, BYTEARRAY8, NEXT_BUFFER, LIST, DICT, STRING, INT.
  for (const unsigned char opcode : "ioP02g\x82\x92\x8f\x96\x97ldSI"sv) {
    const std::string text = error_of("\x80\x04" + std::string(1, static_cast<char>(opcode)) + "os\nsystem\n.");
    EXPECT_THAT(text, HasSubstr(concat("unknown opcode ", static_cast<unsigned>(opcode), ", at byte 2")));
  }
  EXPECT_THAT(error_of("\x80\x01N."sv), HasSubstr("unknown protocol 1"));
  EXPECT_THAT(error_of("\x80\x06N."sv), HasSubstr("unknown protocol 6"));
  EXPECT_THAT(error_of("I1\n."sv), HasSubstr("it does not begin with a protocol"));
}

TEST(DocumentTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(error_of(""sv), HasSubstr("it ends too early"));
  EXPECT_THAT(error_of("\x80\x02."sv), HasSubstr("values are left over"));
  EXPECT_THAT(error_of("\x80\x02NN."sv), HasSubstr("values are left over"));
  EXPECT_THAT(error_of("\x80\x02N(."sv), HasSubstr("values are left over"));
  EXPECT_THAT(error_of("\x80\x02N.N"sv), HasSubstr("bytes are left over"));
  EXPECT_THAT(error_of("\x80\x02t."sv), HasSubstr("there is no mark"));
  EXPECT_THAT(error_of("\x80\x02N(\x85."sv), HasSubstr("values are missing"));
  EXPECT_THAT(error_of("\x80\x02"
                       "Na."sv),
              HasSubstr("there is nothing to add to"));
  EXPECT_THAT(error_of("\x80\x02(Ne."sv), HasSubstr("there is nothing to add to"));
  EXPECT_THAT(error_of("\x80\x02NNa."sv), HasSubstr("only a list can be added to"));
  EXPECT_THAT(error_of("\x80\x02](NNu."sv), HasSubstr("only a dict can be added to"));
  EXPECT_THAT(error_of("\x80\x02}(Nu."sv), HasSubstr("a key without a value"));
  EXPECT_THAT(error_of("\x80\x02N)R."sv), HasSubstr("only what has a name can be called"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ctorch\nSize\nNR."sv),
              HasSubstr("arguments are no tuple"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ctorch\nSize\n)R}b."sv),
              HasSubstr("only a new object gets a state"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ca.b\nC\n)\x81}b}b."sv),
              HasSubstr("only a new object gets a state"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ccollections\nOrderedDict\n]\x85R."sv),
              HasSubstr("an OrderedDict with arguments"));
  EXPECT_THAT(error_of("\x80\x04NN\x93."sv), HasSubstr("a name is no text"));
  EXPECT_THAT(error_of("\x80\x02\x8a\x09"sv), HasSubstr("an integer of more than 64 bits"));
  EXPECT_THAT(error_of("\x80\x02X\xff\xff\xff\xffx."sv), HasSubstr("a string ends behind the pickle"));
  EXPECT_THAT(error_of("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."sv), HasSubstr("a string ends behind"));
  EXPECT_THAT(error_of("\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N"sv), HasSubstr("a frame ends behind"));
  EXPECT_THAT(error_of("\x80\x02"
                       "cabc"sv),
              HasSubstr("a name has no end"));
}

// Bombs: what is small in the file and large in memory, or slow, or deep.
constexpr std::size_t kBomb = std::size_t{1} << 20U;

/// Reads a bomb, which may be refused, and returns whether that took little time and memory.
::testing::AssertionResult is_harmless(const std::string& bytes) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const double begin = monotonic_seconds();
  try {
    read(bytes);
  } catch (const DataError&) {
  }
  const double seconds = monotonic_seconds() - begin;
  ::getrusage(RUSAGE_SELF, &after);
  const long kibibytes = after.ru_maxrss - before.ru_maxrss;
  // A loaded machine, without optimisation; what is not linear takes hours.
  if (seconds > 30) return ::testing::AssertionFailure() << seconds << " s";
  if (kibibytes > 40L * static_cast<long>(kBomb >> 10U)) return ::testing::AssertionFailure() << kibibytes << " KiB";
  return ::testing::AssertionSuccess();
}

TEST(DocumentTest, BombsAreHarmless) {
  const auto pickle = [](const std::string& body) { return "\x80\x04" + body + "."; };
  EXPECT_TRUE(is_harmless(pickle(repeated("("sv, kBomb))));
  EXPECT_TRUE(is_harmless(pickle(repeated("]"sv, kBomb))));
  EXPECT_TRUE(is_harmless(pickle(repeated(")"sv, kBomb))));
  EXPECT_TRUE(is_harmless(pickle("N" + repeated("\x85"sv, kBomb))));
  EXPECT_TRUE(is_harmless(pickle("N" + repeated("\x94"sv, kBomb))));
  EXPECT_TRUE(is_harmless(pickle("(" + repeated("]Na"sv, kBomb / 3) + "t")));
  EXPECT_TRUE(is_harmless(pickle("](" + repeated("}"sv, kBomb) + "e")));
  EXPECT_TRUE(is_harmless(pickle("]\x94(" + repeated("h\x00"sv, kBomb / 2) + "e")));
  EXPECT_TRUE(is_harmless(pickle("](" + repeated("\x8c\x00"sv, kBomb / 2) + "e")));
  EXPECT_TRUE(is_harmless(pickle("\x8c\x01x" + repeated("\x94"
                                                        "h\x00\x86"sv,
                                                        kBomb / 4))));
  // Each tuple holds the one before twice: 2^100000 values, were they counted one by one.
  std::string laughs = "N\x94";
  for (unsigned i = 0; i < 100000; ++i) {
    const std::string recall = "j" + std::string(1, static_cast<char>(i & 0xffU)) +
                               std::string(1, static_cast<char>(i >> 8U & 0xffU)) +
                               std::string(1, static_cast<char>(i >> 16U)) + std::string(1, '\0');
    laughs += recall + recall + "\x86\x94";
  }
  EXPECT_TRUE(is_harmless(pickle(laughs + repeated("\x86"sv, 100000))));
}

}  // namespace
}  // namespace titan::pickle
