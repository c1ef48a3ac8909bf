#include "core/checkpoint/train_state.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

std::string refusal(const std::string& text) {
  return testing::error_text<DataError>([&] { read_train_state(text, "train_state.json"); });
}

TEST(TrainStateTest, ReadsWhatItWrote) {
  const TrainState with{7, 1'000'000'000'000, 6, "{\"rows\": [1, 2]}\n\xc3\xa9"};
  EXPECT_EQ(read_train_state(write_train_state(with), "s"), with);
  const TrainState without{0, 0, 0, std::nullopt};
  EXPECT_EQ(read_train_state(write_train_state(without), "s"), without);
  const TrainState empty{0, 0, 0, ""};
  EXPECT_EQ(read_train_state(write_train_state(empty), "s"), empty);
}

TEST(TrainStateTest, ReadsTheDocumentedText) {
  const char* text = R"({"format": "titan.checkpoint.train_state", "version": 1, "step": 12, "num_tokens": 98304,
                         "schedule_step": 12, "dataloader": "cursors"})";
  EXPECT_EQ(read_train_state(text, "s"), (TrainState{12, 98304, 12, "cursors"}));
}

TEST(TrainStateTest, RefusesWhatIsNone) {
  const std::string begin = R"({"format": "titan.checkpoint.train_state", "version": )";
  EXPECT_NE(refusal("{}").find("train_state.json: missing field: \"format\""), std::string::npos);
  EXPECT_NE(refusal("[]").find("expected an object"), std::string::npos);
  EXPECT_NE(refusal(begin + "2}").find("version: unknown version: 2, this program reads version 1"), std::string::npos);
  EXPECT_NE(refusal(begin + R"(1, "step": -1, "num_tokens": 0, "schedule_step": 0})").find("step: number out of range"),
            std::string::npos);
  EXPECT_NE(refusal(begin + R"(1, "step": 1, "num_tokens": 0})").find("missing field: \"schedule_step\""),
            std::string::npos);
  EXPECT_NE(refusal(begin + R"(1, "step": 1, "step": 1})").find("a name is twice"), std::string::npos);
  EXPECT_NE(refusal(begin + R"(1, "step": 1, "num_tokens": 0, "schedule_step": 0, "seed": 0})")
                .find("unknown field: \"seed\""),
            std::string::npos);
}

TEST(TrainStateTest, WritesNoBytesThatAreNoText) { EXPECT_THROW(write_train_state({0, 0, 0, "\xff"}), InternalError); }

}  // namespace
}  // namespace titan::checkpoint
