#include "core/pickle/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "core/base/error.hpp"
#include "core/pickle/writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::pickle {
namespace {

using namespace std::string_view_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using titan::testing::error_text;

/// Writes what it is told as text: [..] lists, (..) tuples, {..} dicts, each with its key before it.
class Teller : public Listener {
 public:
  std::uint64_t finished(const Finished& container) override {
    std::string text = container.key == Texts::kNone ? "" : std::string(texts[container.key]);
    text += container.kind == Kind::list ? "[" : container.kind == Kind::tuple ? "(" : "{";
    for (const Item& item : container.items) text += told(item) + " ";
    text += container.kind == Kind::list ? "]" : container.kind == Kind::tuple ? ")" : "}";
    told_.push_back(text);
    return told_.size() - 1;
  }

  std::string told(const Item& item) const {
    switch (item.kind) {
      case Item::Kind::none:
        return "None";
      case Item::Kind::boolean:
        return item.bits != 0 ? "True" : "False";
      case Item::Kind::integer:
        return std::to_string(item.integer());
      case Item::Kind::real:
        return concat(std::bit_cast<double>(item.bits));
      case Item::Kind::text:
        return "'" + std::string(texts[item.text()]) + "'";
      default:
        return told_[static_cast<std::size_t>(item.bits)];
    }
  }

  Texts texts;
  std::vector<std::string> told_;
};

std::string read(std::string_view bytes) {
  Teller teller;
  return teller.told(read_stream(bytes, "there/x.pkl", teller.texts, teller));
}

std::string error_of(std::string_view bytes) {
  return error_text<DataError>([&] { read(bytes); });
}

std::string repeated(std::string_view bytes, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

TEST(StreamTest, PlainValues) {
  EXPECT_EQ(read("\x80\x02N."sv), "None");
  EXPECT_EQ(read("\x80\x03\x88."sv), "True");
  EXPECT_EQ(read("\x80\x02\x89."sv), "False");
  EXPECT_EQ(read("\x80\x02J\xfe\xff\xff\xff."sv), "-2");
  EXPECT_EQ(read("\x80\x02M\xff\xff."sv), "65535");
  EXPECT_EQ(read("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."sv), "-9223372036854775808");
  EXPECT_EQ(read("\x80\x02G\x3f\xe0\x00\x00\x00\x00\x00\x00."sv), "0.5");
  EXPECT_EQ(read("\x80\x04\x95\x04\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi."sv), "'hi'");
  EXPECT_EQ(read("\x80\x04\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi."sv), "'hi'");
}

TEST(StreamTest, ContainersHaveTheKeyThatLeadsToThem) {
  // {"a": [{"x": 1, "y": 2}], "b": ((), [3])} as Python writes it.
  EXPECT_EQ(
      read("\x80\x02}q\x00(X\x01\x00\x00\x00\x61q\x01]q\x02}q\x03(X\x01\x00\x00\x00xq\x04K\x01X\x01\x00\x00\x00yq\x05K"
           "\x02u\x61X\x01\x00\x00\x00\x62q\x06)]q\x07K\x03\x61\x86q\x08u."sv),
      "{'a' a[a{'x' 1 'y' 2 } ] 'b' b(b() [3 ] ) }");
  // One member: no mark.
  EXPECT_EQ(read("\x80\x02}X\x01\x00\x00\x00\x61]s."sv), "{'a' a[] }");
}

TEST(StreamTest, AListMayGrowInParts) {
  EXPECT_EQ(read("\x80\x02](K\x01K\x02"
                 "eK\x03\x61."sv),
            "[1 2 3 ]");
}

TEST(StreamTest, AMarkedTupleMayFollowAnOpenList) { EXPECT_EQ(read("\x80\x02](K\x01K\x02ta."sv), "[(1 2 ) ]"); }

TEST(StreamTest, WhatWasKeptCanBeSharedOnceItIsComplete) {
  EXPECT_EQ(read("\x80\x02](]q\x00K\x01\x61h\x00h\x00"
                 "e."sv),
            "[[1 ] [1 ] [1 ] ]");
  EXPECT_THAT(error_of("\x80\x02]q\x00(h\x00"
                       "e."sv),
              HasSubstr("within itself"));
  EXPECT_THAT(error_of("\x80\x02]q\x00h\x00\x61."sv), HasSubstr("only a list can be added to"));
  EXPECT_THAT(error_of("\x80\x02](]q\x00h\x00K\x01\x61"
                       "e."sv),
              HasSubstr("only a list can be added to"));
}

TEST(StreamTest, ItemsOfALongListAreToldBeforeItEnds) {
  Teller teller;
  const std::string list = "\x80\x02](" + repeated("}", 100) + "e.";
  read_stream(list, "x", teller.texts, teller);
  EXPECT_EQ(teller.told_.size(), 101U);
  EXPECT_EQ(teller.told_.front(), "{}");
}

TEST(StreamTest, WhatIsNoPlainValueIsRefusedWithThePlace) {
  EXPECT_THAT(error_of("\x80\x02"
                       "cos\nsystem\n."sv),
              AllOf(HasSubstr("[pickle] not understood: there/x.pkl: "),
                    EndsWith("an opcode that plain values do not need: 99, at byte 2")));
  EXPECT_THAT(error_of("\x80\x02(."sv), HasSubstr("values are left over"));
  EXPECT_THAT(error_of("\x80\x02N.N"sv), HasSubstr("bytes are left over"));
  EXPECT_THAT(error_of("\x80\x02K"sv), HasSubstr("it ends too early"));
  EXPECT_THAT(error_of("\x80\x02"sv), HasSubstr("it ends too early"));
  EXPECT_THAT(error_of(""sv), HasSubstr("it ends too early"));
  EXPECT_THAT(error_of("\x80\x06N."sv), HasSubstr("unknown protocol 6"));
  EXPECT_THAT(error_of("x"sv), HasSubstr("does not begin with a protocol"));
  EXPECT_THAT(error_of("\x80\x02\x85."sv), HasSubstr("values are missing"));
  EXPECT_THAT(error_of("\x80\x02t."sv), HasSubstr("there is no mark"));
  EXPECT_THAT(error_of("\x80\x02"
                       "e."sv),
              HasSubstr("there is no mark"));
  EXPECT_THAT(error_of("\x80\x02}(K\x01u."sv), HasSubstr("a key without a value"));
  EXPECT_THAT(error_of("\x80\x02h\x00."sv), HasSubstr("an unknown memo 0"));
  EXPECT_THAT(error_of("\x80\x02Nq\x07."sv), HasSubstr("memo 7 is out of order"));
  EXPECT_THAT(error_of("\x80\x02X\xff\xff\xff\x7f."sv), HasSubstr("a string ends behind the pickle"));
  EXPECT_THAT(error_of("\x80\x02X\x01\x00\x00\x00\xff."sv), HasSubstr("not UTF-8"));
  EXPECT_THAT(error_of("\x80\x02\x8a\x09xxxxxxxxx."sv), HasSubstr("more than 64 bits"));
  EXPECT_THAT(error_of("\x80\x02" + repeated("(", 70) + "."), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("\x80\x02" + repeated("]", 70) + repeated("a", 69) + "."),
              HasSubstr("only a list can be added to"));
  EXPECT_THAT(error_of("\x80\x02](" + repeated("N", 100'000) + "e."), HasSubstr("too many values"));
  EXPECT_THAT(error_of("\x80\x04N" + repeated("\x94", 100'000) + "."), HasSubstr("too many memos"));
}

TEST(StreamTest, AFileIsReadInPieces) {
  const test::TemporaryFolder folder;
  Writer writer;
  writer.begin_list();
  std::size_t size = 0;
  for (int i = 0; size < 5'000'000; ++i) {
    const std::string text = "text " + std::to_string(i) + std::string(static_cast<std::size_t>(i) % 1000, 'x');
    writer.text(text);
    size += text.size();
  }
  writer.text(std::string(3'000'000, 'y'));
  writer.end_list();
  const FileReader file(folder.write("x.pickle", writer.finish()));
  Teller teller;
  read_stream(file, teller.texts, teller);
  ASSERT_EQ(teller.told_.size(), 1U);
  EXPECT_GT(teller.told_.front().size(), 8'000'000U);
  EXPECT_EQ(teller.texts[999].size(), 8U + 999U);
  EXPECT_EQ(teller.texts[static_cast<std::uint32_t>(teller.texts.size() - 1)], std::string(3'000'000, 'y'));

  const FileReader cut(folder.write("cut.pickle", "\x80\x02X\xff\xff\xff\x7f" + std::string(100, 'x')));
  EXPECT_THAT(error_text<DataError>([&] { read_stream(cut, teller.texts, teller); }),
              AllOf(HasSubstr("cut.pickle"), HasSubstr("a string is too long")));
  EXPECT_THAT(error_text<InputError>([&] { const FileReader absent(folder / "absent"); }), HasSubstr("absent"));
}

}  // namespace
}  // namespace titan::pickle
