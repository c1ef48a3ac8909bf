#include "core/data/added_tokens.hpp"

#include <gtest/gtest.h>

namespace titan::data {
namespace {

struct Piece {
  std::uint32_t id;
  std::string text;
  friend bool operator==(const Piece&, const Piece&) = default;
};
using Pieces = std::vector<Piece>;

void PrintTo(const Piece& piece, std::ostream* out) { *out << piece.id << ":'" << piece.text << "'"; }

AddedToken token(std::string content, std::uint32_t id) {
  AddedToken result;
  result.content = std::move(content);
  result.id = id;
  return result;
}

Pieces split(const std::vector<AddedToken>& tokens, std::string_view text) {
  AddedTokenFinder finder;
  for (const AddedToken& added : tokens) finder.add(added, added.content);
  Pieces pieces;
  finder.split(text, [&](std::uint32_t id, std::string_view piece) { pieces.push_back({id, std::string(piece)}); });
  return pieces;
}

TEST(AddedTokens, PassesTextWithoutTokens) {
  EXPECT_EQ(split({}, "abc"), (Pieces{{kNoToken, "abc"}}));
  EXPECT_EQ(split({token("<x>", 1)}, "a<b"), (Pieces{{kNoToken, "a<b"}}));
  EXPECT_EQ(split({token("<x>", 1)}, ""), Pieces{});
}

TEST(AddedTokens, TakesTheLeftmostThenTheLongest) {
  EXPECT_EQ(split({token("<a>", 1), token("<a><b>", 2), token("a>", 3)}, "x<a><b><a>y"),
            (Pieces{{kNoToken, "x"}, {2, "<a><b>"}, {1, "<a>"}, {kNoToken, "y"}}));
}

TEST(AddedTokens, StripsWhiteSpaceOnTheSidesAskedFor) {
  AddedToken left = token("<l>", 1);
  left.lstrip = true;
  AddedToken right = token("<r>", 2);
  right.rstrip = true;
  EXPECT_EQ(split({left, right}, "a \xE3\x80\x80<l> b <r>  c"),
            (Pieces{{kNoToken, "a"}, {1, " \xE3\x80\x80<l>"}, {kNoToken, " b "}, {2, "<r>  "}, {kNoToken, "c"}}));
  // White space that one token took is not there for the next.
  EXPECT_EQ(split({left, right}, "<r>  <l>"), (Pieces{{2, "<r>  "}, {1, "<l>"}}));
}

TEST(AddedTokens, FindsSingleWordsOnlyBetweenOthers) {
  AddedToken word = token("Tok", 1);
  word.single_word = true;
  EXPECT_EQ(split({word}, "Tok"), (Pieces{{1, "Tok"}}));
  EXPECT_EQ(split({word}, "a Tok."), (Pieces{{kNoToken, "a "}, {1, "Tok"}, {kNoToken, "."}}));
  for (const char* text : {"aTok", "Toks", "Tok_", "Tok9", "\xC3\xA9Tok", "Tok\xCC\x81"}) {
    EXPECT_EQ(split({word}, text), (Pieces{{kNoToken, text}}));
  }
}

TEST(AddedTokens, KeepsTheFirstOfEqualPatterns) {
  EXPECT_EQ(split({token("x", 1), token("x", 2)}, "x"), (Pieces{{1, "x"}}));
}

}  // namespace
}  // namespace titan::data
