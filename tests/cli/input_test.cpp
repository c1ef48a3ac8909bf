#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

/// Data and tokenizers that cannot be used: said before the first step.
class InputTest : public TrainTest {
 protected:
  Outcome train_on(const fs::path& data) const { return tiny_run({"--dataloader.dataset_path", data}).run(); }

  /// Runs with a tokenizer.json of this content.
  Outcome tokenize_with(const std::string& json) const {
    const fs::path file = folder_.write("tokenizer/tokenizer.json", json);
    return tiny_run({"--hf_assets_path", file.parent_path()}).run();
  }
};

TEST_F(InputTest, AMissingDataset) {
  const Outcome outcome = train_on(folder_ / "nowhere");
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("nowhere"));
}

TEST_F(InputTest, AnEmptyDataset) {
  EXPECT_THAT(train_on(folder_.write("empty.jsonl", "")), ExitsWith(66));
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(train_on(folder_ / "empty"), ExitsWith(66));
}

TEST_F(InputTest, AnUnreadableDataset) {
  const fs::path file = folder_.write("data.jsonl", "{\"text\": \"a\"}\n");
  fs::permissions(file, fs::perms::none);
  EXPECT_THAT(train_on(file), ExitsWith(66));
}

TEST_F(InputTest, ABrokenLineIsNamed) {
  const Outcome outcome =
      train_on(folder_.write("data.jsonl", "{\"text\": \"a whole line\"}\n{\"text\": \"a broken\n{\"text\": \"b\"}\n"));
  EXPECT_THAT(outcome, ExitsWith(65));
  EXPECT_THAT(outcome, Says("data.jsonl:2"));
}

TEST_F(InputTest, ALineWithoutTextIsNamed) {
  const Outcome outcome = train_on(folder_.write("data.jsonl", "{\"text\": \"a\"}\n{\"txt\": \"b\"}\n"));
  EXPECT_THAT(outcome, ExitsWith(65));
  EXPECT_THAT(outcome, Says("data.jsonl:2"));
}

TEST_F(InputTest, AMissingTokenizer) {
  const Outcome outcome = tiny_run({"--hf_assets_path=nowhere"}).run();
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("nowhere"));
}

TEST_F(InputTest, ATruncatedTokenizer) {
  const std::string whole = read(source("tests/assets/tokenizer/tokenizer.json"));
  ASSERT_GT(whole.size(), 1000U);
  const Outcome outcome = tokenize_with(whole.substr(0, whole.size() / 2));
  EXPECT_THAT(outcome, ExitsWith(65));
  EXPECT_THAT(outcome, Says("tokenizer.json"));
}

TEST_F(InputTest, ATokenizerLargerThanTheVocabulary) {
  const Outcome outcome = tiny_run({"--model.vocab_size=1000"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("vocab"));
  EXPECT_THAT(outcome, Says("1000"));
}

TEST_F(InputTest, AMicrobatchThatIsNoWholeNumberOfRows) {
  const Outcome outcome = tiny_run({"--training.num_tokens_per_microbatch_per_dp_rank=100"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("100"));
  EXPECT_THAT(outcome, Says("64"));
}

TEST_F(InputTest, AStepThatIsNoWholeNumberOfMicrobatches) {
  const Outcome outcome = tiny_run({"--training.num_tokens_per_train_step=200"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("200"));
}

TEST_F(InputTest, HeadsThatDoNotDivideTheDimension) {
  const Outcome outcome = tiny_run({"--model.dim=33"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("33"));
}

TEST_F(InputTest, NothingIsTrainedOnBadInput) {
  EXPECT_THAT(train_on(folder_ / "nowhere"), ExitsWith(66));
  EXPECT_FALSE(fs::exists(dump_folder() / "metrics.jsonl"));
}

}  // namespace
}  // namespace titan::cli
