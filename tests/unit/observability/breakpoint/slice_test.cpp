#include "plugins/observability/breakpoint/slice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/observability/breakpoint/command.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::observability {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::error_text;

Selection index(std::int64_t first) { return {first, 1, 1, true}; }
Selection range(std::int64_t first, std::int64_t count, std::int64_t step = 1) { return {first, count, step, false}; }

TEST(Slice, NothingTakesAll) {
  EXPECT_THAT(parse_slice("", {4, 6}), ElementsAre(range(0, 4), range(0, 6)));
  EXPECT_THAT(parse_slice("", {}), ElementsAre());
}

TEST(Slice, IndicesAndRangesCountAsPythonsDo) {
  EXPECT_THAT(parse_slice("[0, :4]", {4, 6}), ElementsAre(index(0), range(0, 4)));
  EXPECT_THAT(parse_slice("[-1]", {4, 6}), ElementsAre(index(3), range(0, 6)));
  EXPECT_THAT(parse_slice("[1:-1, 2:]", {4, 6}), ElementsAre(range(1, 2), range(2, 4)));
  EXPECT_THAT(parse_slice("[::2, 1::3]", {5, 6}), ElementsAre(range(0, 3, 2), range(1, 2, 3)));
  EXPECT_THAT(parse_slice("[ : , 3 ]", {4, 6}), ElementsAre(range(0, 4), index(3)));
}

TEST(Slice, RangesEndWhereTheTensorDoes) {
  EXPECT_THAT(parse_slice("[2:100]", {4}), ElementsAre(range(2, 2)));
  EXPECT_THAT(parse_slice("[-100:2]", {4}), ElementsAre(range(0, 2)));
  EXPECT_THAT(parse_slice("[3:1]", {4}), ElementsAre(range(3, 0)));
  EXPECT_THAT(parse_slice("[9:]", {4}), ElementsAre(range(4, 0)));
  EXPECT_THAT(parse_slice("[::9223372036854775807]", {4}), ElementsAre(range(0, 1, 9223372036854775807)));
}

TEST(Slice, AnEllipsisStandsForTheRest) {
  EXPECT_THAT(parse_slice("[..., 0]", {2, 3, 4}), ElementsAre(range(0, 2), range(0, 3), index(0)));
  EXPECT_THAT(parse_slice("[1, ..., :2]", {2, 3, 4}), ElementsAre(index(1), range(0, 3), range(0, 2)));
  EXPECT_THAT(parse_slice("[...]", {2}), ElementsAre(range(0, 2)));
  EXPECT_THAT(parse_slice("[0, ...]", {2}), ElementsAre(index(0)));
}

TEST(Slice, RefusalsSayWhatIsWrong) {
  const auto refusal = [](std::string_view text) {
    return error_text<CommandError>([&] { parse_slice(text, {4, 6}); });
  };
  EXPECT_THAT(refusal("0, 1"), HasSubstr("stands in brackets"));
  EXPECT_THAT(refusal("[0"), HasSubstr("stands in brackets"));
  EXPECT_THAT(refusal("[]"), HasSubstr("empty part"));
  EXPECT_THAT(refusal("[0,]"), HasSubstr("empty part"));
  EXPECT_THAT(refusal("[4]"), HasSubstr("index 4 is out of range: dimension 0 has 4 indices"));
  EXPECT_THAT(refusal("[0, -7]"), HasSubstr("dimension 1 has 6"));
  EXPECT_THAT(refusal("[0, 0, 0]"), HasSubstr("too many indices: 3, the tensor has 2"));
  EXPECT_THAT(refusal("[..., ...]"), HasSubstr("at most one"));
  EXPECT_THAT(refusal("[::0]"), HasSubstr("steps of a slice are positive"));
  EXPECT_THAT(refusal("[::-1]"), HasSubstr("steps of a slice are positive"));
  EXPECT_THAT(refusal("[1:2:3:4]"), HasSubstr("more than start:stop:step"));
  EXPECT_THAT(refusal("[x]"), HasSubstr("not a whole number in a slice: \"x\""));
  EXPECT_THAT(refusal("[99999999999999999999]"), HasSubstr("not a whole number"));
}

}  // namespace
}  // namespace titan::observability
