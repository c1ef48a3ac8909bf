#include "core/data/stream_state.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

using nlohmann::json;

StreamState some_state() {
  StreamState state;
  state.identity = {.dataset = "d", .documents = 9, .tokenizer = "t", .length = 8, .seed = UINT64_MAX, .shards = 4};
  state.position.rows = 12;
  state.position.cursors = {{0, {3, 1, 2, 5}}, {2, {3, 0, 1, 0}}};
  return state;
}

TEST(StreamState, ComesBackFromText) {
  const StreamState state = some_state();
  const StreamState back = read_state(write_state(state));
  EXPECT_EQ(back.identity, state.identity);
  EXPECT_EQ(back.position.rows, 12);
  ASSERT_EQ(back.position.cursors.size(), 2U);
  EXPECT_EQ(back.position.cursors.at(0).pair, 5);
  EXPECT_EQ(back.position.cursors.at(2).document, 1);
  EXPECT_EQ(write_state(back), write_state(state));
}

TEST(StreamState, RefusesMalformedText) {
  const auto refusal = [](const char* field, json value) {
    json state = json::parse(write_state(some_state()));
    state[field] = std::move(value);
    return testing::error_text<DataError>([&] { read_state(state.dump()); });
  };
  EXPECT_NE(refusal("version", 2).find("unknown version: 2, this program knows 1"), std::string::npos);
  EXPECT_NE(refusal("rows", -1).find("rows: number out of range"), std::string::npos);
  EXPECT_NE(refusal("seed", "12x").find("not a seed"), std::string::npos);
  EXPECT_NE(refusal("cursors", {{0, 1, 2, 3}}).find("expected [shard, rows, epoch, document, pair]"),
            std::string::npos);
  EXPECT_NE(refusal("cursors", {{4, 1, 2, 3, 4}, {0, 0, 0, 0, 0}}).find("allowed 0 to 3"), std::string::npos);
  EXPECT_NE(refusal("cursors", {{1, 1, 2, 3, 4}, {1, 0, 0, 0, 0}}).find("the shard twice: 1"), std::string::npos);
  EXPECT_NE(refusal("cursors", {{1, 1, 2, -3, 4}, {0, 0, 0, 0, 0}}).find("out of range"), std::string::npos);
  EXPECT_THROW(read_state(""), DataError);
  EXPECT_THROW(read_state("{}"), DataError);
  EXPECT_THROW(read_state("[]"), DataError);
}

TEST(StreamState, NamesTheDifference) {
  const StreamIdentity here = some_state().identity;
  check_same_stream(here, here);
  const auto difference = [&](auto change) {
    StreamIdentity saved = here;
    change(saved);
    return testing::error_text<DataError>([&] { check_same_stream(saved, here); });
  };
  EXPECT_NE(difference([](auto& s) { s.dataset = "e"; }).find("text with the hash e when saved, d now"),
            std::string::npos);
  EXPECT_NE(difference([](auto& s) { s.documents = 8; }).find("number of documents 8 when saved, 9 now"),
            std::string::npos);
  EXPECT_NE(difference([](auto& s) { s.tokenizer = "u"; }).find("tokenizer with the hash u"), std::string::npos);
  EXPECT_NE(difference([](auto& s) { s.length = 7; }).find("row length 7 when saved, 8 now"), std::string::npos);
  EXPECT_NE(difference([](auto& s) { s.seed = 1; }).find("set dataloader.seed back"), std::string::npos);
  EXPECT_NE(difference([](auto& s) { s.shuffle = false; }).find("shuffling false when saved, true now"),
            std::string::npos);
  EXPECT_NE(difference([](auto& s) { s.shards = 3; }).find("virtual shards 3 when saved, 4 now"), std::string::npos);
}

TEST(StreamState, MergesTheFurthestCursors) {
  StreamState one = some_state();
  StreamState two = some_state();
  two.position.cursors = {{1, {3, 0, 0, 0}}, {2, {4, 0, 2, 0}}};
  const StreamState merged = merge_states(std::vector<StreamState>{one, two});
  ASSERT_EQ(merged.position.cursors.size(), 3U);
  EXPECT_EQ(merged.position.cursors.at(2).rows, 4);
  EXPECT_EQ(merged.position.cursors.at(0).rows, 3);
  two.position.rows = 13;
  EXPECT_NE(testing::error_text<DataError>([&] {
              merge_states(std::vector<StreamState>{one, two});
            }).find("rows 13 and 12"),
            std::string::npos);
  two = some_state();
  two.identity.length = 7;
  EXPECT_THROW(merge_states(std::vector<StreamState>{one, two}), DataError);
  EXPECT_THROW(merge_states({}), DataError);
}

}  // namespace
}  // namespace titan::data
