#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/format.hpp"
#include "core/config/registry.hpp"
#include "core/config/resolver.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::config {
namespace {

class CoreOptionsTest : public ::testing::Test {
 protected:
  CoreOptionsTest() { add_core_options(registry_); }

  Registry registry_;
};

/// The command line is an interface: whoever adds or renames an option says so here.
TEST_F(CoreOptionsTest, NamesAndDefaults) {
  std::vector<std::string> found;
  for (const Option* option : registry_.options()) found.push_back(option->name + " " + to_text(option->default_value));
  EXPECT_THAT(found, ::testing::ElementsAreArray({
                         "checkpoint.async_mode disabled",
                         "checkpoint.create_seed_checkpoint false",
                         "checkpoint.enable false",
                         "checkpoint.enable_first_step_checkpoint false",
                         "checkpoint.exclude_from_loading ",
                         "checkpoint.export_dtype float32",
                         "checkpoint.folder checkpoint",
                         "checkpoint.initial_load_in_hf false",
                         "checkpoint.initial_load_model_only true",
                         "checkpoint.initial_load_path None",
                         "checkpoint.interval 500",
                         "checkpoint.keep_latest_k 10",
                         "checkpoint.last_save_in_hf false",
                         "checkpoint.last_save_model_only true",
                         "checkpoint.load_only false",
                         "checkpoint.load_step -1",
                         "comm.cpu_backend auto",
                         "comm.init_timeout_seconds 300",
                         "comm.mode default",
                         "comm.trace_buf_size 20000",
                         "comm.train_timeout_seconds 100",
                         "dataloader.dataset_path ./tests/assets/corpus",
                         "dataloader.end_of_data stop",
                         "dataloader.num_prefetch_batches 2",
                         "dataloader.num_virtual_shards 128",
                         "dataloader.repeat true",
                         "dataloader.seed 42",
                         "dataloader.shuffle true",
                         "debug.deterministic false",
                         "debug.deterministic_warn_only false",
                         "debug.drift_check_freq 0",
                         "debug.memory_limit_gib None",
                         "debug.print_config false",
                         "debug.replica_audit_freq 100",
                         "debug.save_config_file None",
                         "debug.seed None",
                         "dump_folder ./outputs",
                         "hf_assets_path ./tests/assets/tokenizer",
                         "lr_scheduler.decay_ratio None",
                         "lr_scheduler.decay_type linear",
                         "lr_scheduler.min_lr_factor 0",
                         "lr_scheduler.total_steps None",
                         "lr_scheduler.warmup_steps 200",
                         "optimizer.beta1 0.9",
                         "optimizer.beta2 0.95",
                         "optimizer.eps 1e-08",
                         "optimizer.implementation fused",
                         "optimizer.lr 8e-04",
                         "optimizer.name AdamW",
                         "optimizer.param_groups []",
                         "optimizer.weight_decay 0.1",
                         "parallelism.context_parallel_degree 1",
                         "parallelism.data_parallel_replicate_degree 1",
                         "parallelism.data_parallel_shard_degree -1",
                         "parallelism.expert_parallel_degree 1",
                         "parallelism.num_pp_microbatches 1",
                         "parallelism.pipeline_parallel_degree 1",
                         "parallelism.tensor_parallel_degree 1",
                         "training.device auto",
                         "training.dtype float32",
                         "training.max_context_length 2048",
                         "training.max_norm 1",
                         "training.mixed_precision_param bfloat16",
                         "training.mixed_precision_reduce float32",
                         "training.num_threads None",
                         "training.num_tokens_per_microbatch_per_dp_rank 16384",
                         "training.num_tokens_per_train_step -1",
                         "training.steps 10000",
                         "validator.dataset_path None",
                         "validator.enable false",
                         "validator.freq 10",
                         "validator.steps -1",
                     }));
}

TEST_F(CoreOptionsTest, EveryOptionHasHelp) {
  for (const Option* option : registry_.options()) {
    EXPECT_GT(option->help.size(), 5U) << option->name;
    EXPECT_TRUE(option->help.ends_with('.')) << option->name;
    EXPECT_EQ(option->owner, "titan") << option->name;
  }
}

TEST_F(CoreOptionsTest, OptionsThatMayDifferBetweenRanks) {
  std::set<std::string> may_differ;
  for (const Option* option : registry_.options()) {
    if (!option->must_match) may_differ.insert(option->name);
  }
  EXPECT_EQ(may_differ, (std::set<std::string>{"checkpoint.folder", "comm.mode", "dataloader.num_prefetch_batches",
                                               "debug.memory_limit_gib", "debug.print_config", "debug.save_config_file",
                                               "dump_folder", "training.num_threads"}));
}

TEST_F(CoreOptionsTest, AGroupOfAPipelineIsBounded) {
  EXPECT_NO_THROW(resolve_settings(registry_, {{"parallelism.num_pp_microbatches", "4096"}}));
  EXPECT_THROW(resolve_settings(registry_, {{"parallelism.num_pp_microbatches", "4097"}}), ConfigError);
}

/// The page for users has a row for each option: name, type, default.
TEST_F(CoreOptionsTest, PageListsEveryOption) {
  const std::string page = test::content_of(TITAN_CONFIGURATION_PAGE);
  ASSERT_FALSE(page.empty()) << TITAN_CONFIGURATION_PAGE;
  for (const Option* option : registry_.options()) {
    const std::string row =
        concat("| `", option->name, "` | ", type_name(option->type), " | `", to_text(option->default_value), "` |");
    EXPECT_THAT(page, ::testing::HasSubstr(row));
  }
}

TEST_F(CoreOptionsTest, PageListsNoOtherOption) {
  const std::string page = test::content_of(TITAN_CONFIGURATION_PAGE);
  const std::size_t begin = page.find("\n| option | type | default |");
  ASSERT_NE(begin, std::string::npos);
  for (const std::string& line : split(page.substr(begin), '\n')) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    EXPECT_NE(registry_.find(name), nullptr) << line;
  }
}

}  // namespace
}  // namespace titan::config
