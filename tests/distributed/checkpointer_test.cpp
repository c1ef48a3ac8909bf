// When a run saves, what it keeps, and what it begins from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/checkpoint/options.hpp"
#include "core/checkpoint/source.hpp"
#include "core/checkpoint/step_folders.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/trained_ranks.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr config::Degrees kTwoRanks{1, 1, 2, 1, 1};
const std::string kWeight = "layers.0.attention.wq.weight";

class Checkpointer : public ::testing::Test {
 protected:
  RankRuns run(std::int64_t steps, const Settings& settings = {}, const config::Degrees& degrees = kOneRank) const {
    RankRuns runs = saving(parity_run(degrees, kSingle, 1), folder_.path() / "checkpoint");
    runs.steps = steps;
    return with(with(std::move(runs), {{"lr_scheduler.total_steps", "100"}}), settings);
  }
  fs::path folder() const { return folder_.path() / "checkpoint"; }
  fs::path step(std::int64_t number) const { return folder() / checkpoint::step_name(number); }
  std::vector<std::int64_t> steps() const { return checkpoint::committed_steps(folder()); }
  void damage(std::int64_t number) const {
    const fs::path shard = step(number) / "shard-00000-of-00001.safetensors";
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-5, std::ios::end);
    const int byte = file.get();
    file.seekp(-5, std::ios::end);
    file.put(static_cast<char>(byte ^ 1));
  }

  test::TemporaryFolder folder_;
};

TEST_F(Checkpointer, SavesAtTheIntervalAndAfterTheLastStep) {
  train_ranks(run(7, {{"checkpoint.interval", "3"}}));
  EXPECT_THAT(steps(), ElementsAre(3, 6, 7));
}

TEST_F(Checkpointer, SavesTheFirstStepWhenAsked) {
  train_ranks(run(3, {{"checkpoint.enable_first_step_checkpoint", "true"}}));
  EXPECT_THAT(steps(), ElementsAre(1, 3));
}

TEST_F(Checkpointer, KeepsTheLatest) {
  train_ranks(run(7, {{"checkpoint.interval", "1"}, {"checkpoint.keep_latest_k", "2"}}));
  EXPECT_THAT(steps(), ElementsAre(6, 7));
}

TEST_F(Checkpointer, DoesNothingWhenOff) {
  train_ranks(run(2, {{"checkpoint.enable", "false"}}));
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(Checkpointer, LoadOnlyNeverSaves) {
  train_ranks(run(2, {{"checkpoint.load_only", "true"},
                      {"checkpoint.interval", "1"},
                      {"checkpoint.enable_first_step_checkpoint", "true"}}));
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(Checkpointer, SavesTheModelAloneAtTheEndInTheTypeAskedFor) {
  train_ranks(run(2, {{"checkpoint.last_save_model_only", "true"}, {"checkpoint.export_dtype", "bfloat16"}}));
  const checkpoint::Source source = checkpoint::open_titan(step(2));
  EXPECT_EQ(source.manifest->contents, checkpoint::Contents::model_only);
  EXPECT_EQ(source.tensors.at(kWeight).dtype, checkpoint::DType::bf16);
  EXPECT_FALSE(source.tensors.contains("optimizer.state." + kWeight + ".exp_avg"));
}

TEST_F(Checkpointer, SavesWhereTheDataEnds) {
  const fs::path text = folder_.write("text/data.txt", std::string(3000, 'a') + "\n\n" + std::string(3000, 'b'));
  const Trained trained = train_ranks(run(1000, {{"dataloader.dataset_path", text.native()},
                                                 {"dataloader.repeat", "false"},
                                                 {"training.num_tokens_per_microbatch_per_dp_rank", "64"},
                                                 {"training.num_tokens_per_train_step", "64"}}));
  ASSERT_FALSE(trained.steps.empty());
  EXPECT_THAT(steps(), ElementsAre(trained.steps.rbegin()->first));
}

TEST_F(Checkpointer, TheEndOfDataThatIsAnErrorSavesFirst) {
  const fs::path text = folder_.write("text/data.txt", std::string(3000, 'a') + "\n\n" + std::string(3000, 'b'));
  const RankRuns runs = run(1000,
                            {{"dataloader.dataset_path", text.native()},
                             {"dataloader.repeat", "false"},
                             {"dataloader.end_of_data", "error"},
                             {"training.num_tokens_per_microbatch_per_dp_rank", "64"},
                             {"training.num_tokens_per_train_step", "128"}},
                            kTwoRanks);
  EXPECT_THAT(error_text<DataError>([&] { train_ranks(runs); }), HasSubstr("dataloader.end_of_data is error"));
  EXPECT_EQ(steps().size(), 1u);
}

TEST_F(Checkpointer, BeginsFromTheNewestThatIsWhole) {
  train_ranks(run(4, {{"checkpoint.interval", "2"}}));
  damage(4);
  const Trained trained = train_ranks(run(5));
  EXPECT_EQ(trained.steps.begin()->first, 3) << "step 4 is damaged";
  EXPECT_THAT(steps(), ElementsAre(2, 5)) << "the damaged one belongs to another history";
}

TEST_F(Checkpointer, ADamagedStepThatWasNamedIsRefused) {
  train_ranks(run(4, {{"checkpoint.interval", "2"}}));
  damage(4);
  EXPECT_THAT(error_text<DataError>([&] {
                train_ranks(run(5, {{"checkpoint.load_step", "4"}}));
              }),
              AllOf(HasSubstr("shard-00000-of-00001.safetensors"), HasSubstr("damaged")));
}

TEST_F(Checkpointer, NoStepThatIsWholeIsNoFreshRun) {
  train_ranks(run(2));
  damage(2);
  EXPECT_THAT(error_text<DataError>([&] { train_ranks(run(5)); }), HasSubstr("damaged"));
}

TEST_F(Checkpointer, AStepThatIsNotThereIsNamed) {
  train_ranks(run(4, {{"checkpoint.interval", "2"}}));
  EXPECT_THAT(error_text<Error>([&] {
                train_ranks(run(5, {{"checkpoint.load_step", "3"}}));
              }),
              AllOf(HasSubstr("checkpoint.load_step 3"), HasSubstr("2, 4")));
}

TEST_F(Checkpointer, GoingBackKeepsHistoriesApart) {
  train_ranks(run(6, {{"checkpoint.interval", "2"}}));
  const Trained again = train_ranks(run(5, {{"checkpoint.load_step", "2"}, {"checkpoint.interval", "2"}}));
  EXPECT_EQ(again.steps.begin()->first, 3);
  EXPECT_THAT(steps(), ElementsAre(2, 4, 5));
  std::vector<std::int64_t> abandoned;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().filename().string().starts_with("abandoned-"))
      abandoned = checkpoint::committed_steps(entry.path());
  }
  EXPECT_THAT(abandoned, ElementsAre(4, 6));
}

TEST_F(Checkpointer, BeginsFromAnotherFolderWhereThereIsNoStep) {
  const Trained first = train_ranks(run(2));
  test::TemporaryFolder other;
  const Settings settings{{"checkpoint.folder", (other.path() / "mine").native()},
                          {"checkpoint.initial_load_path", step(2).native()}};
  const Trained weights = train_ranks(with(run(1, settings), {{"optimizer.lr", "0"}, {"optimizer.weight_decay", "0"}}));
  EXPECT_EQ(weights.steps.begin()->first, 1) << "the model alone is taken";
  EXPECT_TRUE(weights.state.at(kWeight).equal(first.state.at(kWeight)));
  const Trained next = train_ranks(with(run(2, settings), {{"optimizer.lr", "0"}}));
  EXPECT_EQ(next.steps.begin()->first, 2) << "its own step goes first";
}

TEST_F(Checkpointer, AllOfAnotherFoldersStateCanBeTaken) {
  const Trained first = train_ranks(run(2));
  test::TemporaryFolder other;
  const Trained next = train_ranks(run(2, {{"checkpoint.folder", (other.path() / "mine").native()},
                                           {"checkpoint.initial_load_path", step(2).native()},
                                           {"checkpoint.initial_load_model_only", "false"}}));
  EXPECT_TRUE(next.steps.empty());
  EXPECT_TRUE(bit_equal(next.state, first.state));
}

TEST_F(Checkpointer, AnotherModelIsRefusedWithWhatDiffers) {
  train_ranks(run(2));
  EXPECT_THAT(error_text<DataError>([&] {
                train_ranks(run(3, {{"model.n_layers", "7"}}));
              }),
              AllOf(HasSubstr("tensors that this run has not"), HasSubstr("layers.7.")));
  EXPECT_THAT(error_text<DataError>([&] {
                train_ranks(run(3, {{"model.n_layers", "9"}}));
              }),
              AllOf(HasSubstr("missing"), HasSubstr("layers.8.")));
}

TEST_F(Checkpointer, AStopOfOneRankSavesTheSameStepOnAll) {
  const auto stop_rank_1 = [](std::int64_t rank, std::int64_t step, StopFlag& stop) {
    if (rank == 1 && step == 3) stop.request(SIGTERM);
  };
  const Trained whole = train_ranks(with(run(6, {}, kTwoRanks), {{"checkpoint.enable", "false"}}));
  const std::string text = error_text<Stopped>([&] { train_ranks(run(6, {}, kTwoRanks), stop_rank_1); });
  EXPECT_THAT(text, AllOf(HasSubstr("SIGTERM"), HasSubstr("the state is saved"), HasSubstr("step-3")));
  EXPECT_THAT(steps(), ElementsAre(3));
  const Trained rest = train_ranks(run(6, {}, kTwoRanks));
  EXPECT_EQ(rest.steps.begin()->first, 4);
  EXPECT_TRUE(bit_equal(rest.state, whole.state)) << "batches that were fetched before the stop come again";
}

TEST_F(Checkpointer, AStopWithNothingNewToSaveNamesTheStepThereIs) {
  train_ranks(run(2));
  const auto stop_at = [](std::int64_t, std::int64_t step, StopFlag& stop) {
    if (step == 4) stop.request(SIGINT);
  };
  const std::string text = error_text<Stopped>([&] { train_ranks(run(9, {{"checkpoint.interval", "4"}}), stop_at); });
  EXPECT_THAT(text, HasSubstr("step-4"));
  EXPECT_THAT(steps(), ElementsAre(2, 4));
}

TEST_F(Checkpointer, AStopWithoutCheckpointsIsAStop) {
  const auto stop_at = [](std::int64_t, std::int64_t step, StopFlag& stop) {
    if (step == 2) stop.request(SIGUSR1);
  };
  EXPECT_THROW(train_ranks(run(9, {{"checkpoint.enable", "false"}}), stop_at), Interrupted);
  EXPECT_THROW(train_ranks(run(9, {{"checkpoint.load_only", "true"}}), stop_at), Interrupted);
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(Checkpointer, StepsThatAreCountedAnewAreAnotherHistory) {
  train_ranks(run(4, {{"checkpoint.interval", "2"}}));
  train_ranks(run(3, {{"checkpoint.interval", "2"},
                      {"checkpoint.keep_latest_k", "2"},
                      {"checkpoint.exclude_from_loading", "train_state"}}));
  EXPECT_THAT(steps(), ElementsAre(2, 3)) << "none of the steps before is taken for one of this run";
  EXPECT_EQ(train_ranks(run(4)).steps.begin()->first, 4);
}

TEST_F(Checkpointer, TheEndOfDataAtASavedStepIsNoSecondSave) {
  const fs::path text = folder_.write("text/data.txt", std::string(3000, 'a') + "\n\n" + std::string(3000, 'b'));
  const Trained trained = train_ranks(run(1000, {{"dataloader.dataset_path", text.native()},
                                                 {"dataloader.repeat", "false"},
                                                 {"checkpoint.interval", "1"},
                                                 {"checkpoint.last_save_model_only", "true"},
                                                 {"training.num_tokens_per_microbatch_per_dp_rank", "64"},
                                                 {"training.num_tokens_per_train_step", "64"}}));
  EXPECT_EQ(steps().back(), trained.steps.rbegin()->first);
}

TEST_F(Checkpointer, WhatADamagedStepLeftIsForgotten) {
  train_ranks(run(1, {{"checkpoint.create_seed_checkpoint", "true"}}));
  const Settings none{{"optimizer.lr", "0"}, {"optimizer.weight_decay", "0"}};
  train_ranks(run(2));
  damage(2);
  const Trained trained = train_ranks(run(1, none));
  const Trained fresh = train_ranks(with(run(1, none), {{"checkpoint.enable", "false"}}));
  EXPECT_TRUE(bit_equal(trained.state, fresh.state))
      << "the seed has the weights, and nothing has the optimizer's state";
}

TEST_F(Checkpointer, ASeedIsTheFirstStepOfItsFolder) {
  train_ranks(run(2));
  const config::Config config = configuration(run(2, {{"checkpoint.create_seed_checkpoint", "true"}}));
  EXPECT_THAT(error_text<CreateError>([&] { checkpoint::check_before_start(config, 1); }), HasSubstr("has steps"));
}

TEST_F(Checkpointer, NothingIsLeftToTrainAfterTheLastStep) {
  const Settings settings{{"checkpoint.last_save_model_only", "true"}};
  train_ranks(run(2, settings));
  EXPECT_TRUE(train_ranks(run(2, settings)).steps.empty());
  EXPECT_THAT(steps(), ElementsAre(2));
}

TEST_F(Checkpointer, WhatIsInTheWayOfASaveIsToldBeforeTheFirstStep) {
  fs::create_directories(step(2));
  fs::create_directories(folder() / "step-900");
  bool has_trained = false;
  const auto note = [&](std::int64_t, std::int64_t, StopFlag&) { has_trained = true; };
  EXPECT_THAT(error_text<CreateError>([&] { train_ranks(run(2), note); }),
              AllOf(HasSubstr("in the way"), HasSubstr("step-2")));
  EXPECT_FALSE(has_trained);
  fs::remove(step(2));
  train_ranks(run(2));
  EXPECT_TRUE(fs::exists(folder() / "step-900")) << "others are left alone";
}

TEST_F(Checkpointer, AStepThatLostItsManifestMakesWay) {
  train_ranks(run(4, {{"checkpoint.interval", "2"}}));
  fs::remove(step(4) / "MANIFEST.json");
  EXPECT_EQ(train_ranks(run(4)).steps.begin()->first, 3);
  EXPECT_THAT(steps(), ElementsAre(2, 4));
}

TEST_F(Checkpointer, AnotherModelOfTheSameShapesIsRefused) {
  train_ranks(run(2));
  EXPECT_THAT(error_text<DataError>([&] {
                train_ranks(run(3, {{"model.norm_eps", "0.5"}}));
              }),
              AllOf(HasSubstr("model.norm_eps"), HasSubstr("--checkpoint.initial_load_path")));
}

TEST_F(Checkpointer, AStopInALastValidationLeavesAllDone) {
  // The last step's validation is the one that meets the request.
  const auto stop_at = [](std::int64_t, std::int64_t step, StopFlag& stop) {
    if (step == 2) stop.request(SIGTERM);
  };
  const Settings settings{{"validator.enable", "true"},
                          {"validator.freq", "2"},
                          {"validator.steps", "1"},
                          {"checkpoint.last_save_model_only", "true"}};
  train_ranks(run(2, settings, kTwoRanks), stop_at);
  EXPECT_THAT(steps(), ElementsAre(2));
  EXPECT_EQ(checkpoint::open_titan(step(2)).manifest->contents, checkpoint::Contents::model_only);
}

TEST_F(Checkpointer, AStopInAValidationSaves) {
  const auto stop_at = [](std::int64_t, std::int64_t step, StopFlag& stop) {
    if (step == 2) stop.request(SIGTERM);
  };
  const Settings settings{{"validator.enable", "true"}, {"validator.freq", "2"}, {"validator.steps", "1"}};
  EXPECT_THAT(error_text<Stopped>([&] { train_ranks(run(5, settings, kTwoRanks), stop_at); }), HasSubstr("step-2"));
  EXPECT_THAT(steps(), ElementsAre(2));
}

TEST_F(Checkpointer, SavesForTheHubAtTheEnd) {
  const Settings settings{{"checkpoint.last_save_model_only", "true"}, {"checkpoint.last_save_in_hf", "true"}};
  const Trained trained = train_ranks(run(2, settings, kTwoRanks));
  EXPECT_EQ(checkpoint::format_of(step(2)), checkpoint::Format::hugging_face);
  EXPECT_THAT(steps(), ElementsAre(2));
  EXPECT_FALSE(fs::exists(step(2) / "shard-00000-of-00002.safetensors"));
  test::TemporaryFolder other;
  const Trained loaded = train_ranks(run(1, {{"checkpoint.folder", (other.path() / "mine").native()},
                                             {"checkpoint.initial_load_path", step(2).native()},
                                             {"checkpoint.initial_load_in_hf", "true"},
                                             {"optimizer.lr", "0"},
                                             {"optimizer.weight_decay", "0"}}));
  for (const auto& [name, tensor] : trained.state) {
    if (name.starts_with("optimizer.")) continue;
    EXPECT_TRUE(tensor.equal(loaded.state.at(name))) << name;
  }
}

}  // namespace
}  // namespace titan::testing
