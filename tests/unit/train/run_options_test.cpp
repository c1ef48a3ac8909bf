#include "core/train/run_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/resolver.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Settings = std::vector<config::Preset::Setting>;

RunOptions read(const Settings& settings, const config::Mesh& mesh = {}, std::int64_t rank = 0) {
  config::Registry registry;
  config::add_core_options(registry);
  return read_run_options(config::resolve_settings(registry, settings), mesh, rank);
}

std::string refusal(const Settings& settings) {
  try {
    read(settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RunOptions, ReadsTheDefaults) {
  const RunOptions options = read({});
  EXPECT_EQ(options.steps, 10000);
  EXPECT_EQ(options.sizes.rows, 8);
  EXPECT_EQ(options.sizes.length, 2048);
  EXPECT_EQ(options.sizes.num_micro_batches, 1);
  EXPECT_DOUBLE_EQ(options.max_norm, 1.0);
  EXPECT_EQ(options.precision.compute, at::kBFloat16);
  EXPECT_FALSE(options.num_threads);
  EXPECT_DOUBLE_EQ(options.optimizer.defaults.lr, 8e-4);
  EXPECT_DOUBLE_EQ(options.optimizer.defaults.beta2, 0.95);
  EXPECT_EQ(options.optimizer.implementation, optim::Implementation::fused);
  EXPECT_TRUE(options.optimizer.rules.empty());
  EXPECT_EQ(options.schedule.training_steps, 10000);
  EXPECT_EQ(options.schedule.warmup_steps, 200);
  EXPECT_FALSE(options.schedule.decay_ratio);
  EXPECT_EQ(options.data.rows_per_batch, 8);
  EXPECT_EQ(options.data.seed, 42u);
  EXPECT_TRUE(options.data.shuffle);
  EXPECT_FALSE(options.validation.enable);
  EXPECT_EQ(options.validation.dataset_path, options.data.path);
  EXPECT_FALSE(options.debug.seed);
  EXPECT_EQ(options.data.dp_degree, 1);
  EXPECT_FALSE(options.end_of_data_is_error);
  EXPECT_EQ(options.debug.replica_audit_freq, 100);
  EXPECT_EQ(options.timeouts.init, std::chrono::seconds(300));
  EXPECT_EQ(options.timeouts.train, std::chrono::seconds(100));
}

TEST(RunOptions, ARankTakesItsPartOfTheStep) {
  const config::Mesh mesh({1, 2, 2, 1, 1}, 4);
  const RunOptions options = read({{"training.num_tokens_per_microbatch_per_dp_rank", "256"},
                                   {"training.num_tokens_per_train_step", "2048"},
                                   {"training.max_context_length", "128"}},
                                  mesh, 3);
  EXPECT_EQ(options.sizes.rows, 2);
  EXPECT_EQ(options.sizes.num_micro_batches, 2);
  EXPECT_EQ(options.data.dp_rank, 3);
  EXPECT_EQ(options.data.dp_degree, 4);
}

TEST(RunOptions, DeadlinesMayBeFractionsOfASecond) {
  const RunOptions options = read({{"comm.init_timeout_seconds", "2.5"}, {"comm.train_timeout_seconds", "0.00001"}});
  EXPECT_EQ(options.timeouts.init, std::chrono::milliseconds(2500));
  EXPECT_EQ(options.timeouts.train, std::chrono::milliseconds(1));
}

TEST(RunOptions, PassesEverySettingOn) {
  const RunOptions options = read({{"training.num_tokens_per_microbatch_per_dp_rank", "256"},
                                   {"training.num_tokens_per_train_step", "1024"},
                                   {"training.max_context_length", "128"},
                                   {"training.num_threads", "3"},
                                   {"optimizer.name", "Adam"},
                                   {"optimizer.implementation", "for-loop"},
                                   {"optimizer.param_groups", R"([{"pattern": "norm"}])"},
                                   {"lr_scheduler.decay_type", "cosine"},
                                   {"lr_scheduler.decay_ratio", "0.5"},
                                   {"validator.enable", "true"},
                                   {"validator.dataset_path", "elsewhere"},
                                   {"dataloader.end_of_data", "error"},
                                   {"debug.replica_audit_freq", "5"},
                                   {"debug.seed", "7"},
                                   {"debug.deterministic", "true"}});
  EXPECT_EQ(options.sizes.rows, 2);
  EXPECT_EQ(options.sizes.num_micro_batches, 4);
  EXPECT_EQ(options.data.length, 128);
  EXPECT_EQ(options.num_threads, 3);
  EXPECT_EQ(options.optimizer.defaults.algorithm, optim::Algorithm::adam);
  EXPECT_EQ(options.optimizer.implementation, optim::Implementation::for_loop);
  ASSERT_EQ(options.optimizer.rules.size(), 1u);
  EXPECT_EQ(options.optimizer.rules[0].options.algorithm, optim::Algorithm::adam);
  EXPECT_EQ(options.schedule.decay_type, optim::DecayType::cosine);
  EXPECT_EQ(options.schedule.decay_ratio, 0.5);
  EXPECT_TRUE(options.validation.enable);
  EXPECT_EQ(options.validation.dataset_path, "elsewhere");
  EXPECT_TRUE(options.end_of_data_is_error);
  EXPECT_EQ(options.debug.replica_audit_freq, 5);
  EXPECT_EQ(options.debug.seed, 7);
  EXPECT_TRUE(options.debug.deterministic);
}

TEST(RunOptions, RefusesCudaByName) {
  EXPECT_THAT(refusal({{"training.device", "cuda"}}), AllOf(HasSubstr("training.device"), HasSubstr("cuda")));
  EXPECT_EQ(refusal({{"training.device", "cpu"}}), "accepted");
}

TEST(RunOptions, RefusesWhatDoesNotFitTogether) {
  EXPECT_THAT(refusal({{"training.max_context_length", "3000"}}), HasSubstr("16384 = 5 x 3000 + 1384"));
  EXPECT_THAT(refusal({{"training.mixed_precision_param", "float64"}}), HasSubstr("training.dtype float64"));
  EXPECT_THAT(refusal({{"validator.enable", "true"}, {"validator.steps", "0"}}), HasSubstr("validator.steps"));
  EXPECT_THAT(refusal({{"optimizer.param_groups", R"([{"patern": "norm"}])"}}), HasSubstr("param_groups[0]"));
}

}  // namespace
}  // namespace titan::train
