#include "core/train/run_options.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/precision.hpp"
#include "core/train/ranks/ranks.hpp"

namespace titan::train {
namespace {

using config::Config;

void check_device(const Config& config) {
  if (config.string("training.device") != "cuda") return;
  throw ConfigError("[train] training.device cuda is not available in this release: use --training.device=cpu or auto");
}

RunOptions::Optimizer read_optimizer(const Config& config) {
  RunOptions::Optimizer read;
  read.defaults.algorithm = optim::parse_algorithm("optimizer.name", config.string("optimizer.name"));
  read.defaults.lr = config.floating("optimizer.lr");
  read.defaults.beta1 = config.floating("optimizer.beta1");
  read.defaults.beta2 = config.floating("optimizer.beta2");
  read.defaults.eps = config.floating("optimizer.eps");
  read.defaults.weight_decay = config.floating("optimizer.weight_decay");
  optim::validate("optimizer", read.defaults);
  read.implementation = optim::parse_implementation(config.string("optimizer.implementation"));
  read.rules = optim::parse_group_rules(config.string("optimizer.param_groups"), read.defaults);
  return read;
}

optim::LrScheduleOptions read_schedule(const Config& config) {
  optim::LrScheduleOptions read;
  read.training_steps = config.integer("training.steps");
  read.warmup_steps = config.integer("lr_scheduler.warmup_steps");
  read.total_steps = config.optional_integer("lr_scheduler.total_steps");
  read.decay_ratio = config.optional_floating("lr_scheduler.decay_ratio");
  read.decay_type = optim::parse_decay_type(config.string("lr_scheduler.decay_type"));
  read.min_lr_factor = config.floating("lr_scheduler.min_lr_factor");
  return read;
}

data::LoaderOptions read_data(const Config& config, const config::Sizes& sizes) {
  data::LoaderOptions read;
  read.path = config.string("dataloader.dataset_path");
  read.length = sizes.length;
  read.rows_per_batch = sizes.rows;
  read.seed = static_cast<std::uint64_t>(config.integer("dataloader.seed"));
  read.shuffle = config.boolean("dataloader.shuffle");
  read.repeat = config.boolean("dataloader.repeat");
  read.num_virtual_shards = config.integer("dataloader.num_virtual_shards");
  read.num_prefetch_batches = config.integer("dataloader.num_prefetch_batches");
  return read;
}

RunOptions::Validation read_validation(const Config& config) {
  RunOptions::Validation read;
  read.enable = config.boolean("validator.enable");
  read.freq = config.integer("validator.freq");
  read.steps = config.integer("validator.steps");
  read.dataset_path =
      config.optional_string("validator.dataset_path").value_or(config.string("dataloader.dataset_path"));
  if (read.enable && read.steps == 0) {
    throw ConfigError("[train] validator.steps must be -1 (the whole data set) or at least 1: 0");
  }
  return read;
}

RunOptions::Debug read_debug(const Config& config) {
  RunOptions::Debug read;
  read.seed = config.optional_integer("debug.seed");
  read.deterministic = config.boolean("debug.deterministic");
  read.deterministic_warn_only = config.boolean("debug.deterministic_warn_only");
  read.replica_audit_freq = config.integer("debug.replica_audit_freq");
  read.drift_check_freq = config.integer("debug.drift_check_freq");
  return read;
}

// Never 0: a deadline that has passed already is no deadline.
std::chrono::milliseconds read_timeout(const Config& config, std::string_view option) {
  return std::chrono::milliseconds(std::max<std::int64_t>(std::llround(config.floating(option) * 1000), 1));
}

}  // namespace

RunOptions read_run_options(const Config& config, const config::Mesh& mesh, std::int64_t rank) {
  check_device(config);
  RunOptions read;
  read.dump_folder = config.string("dump_folder");
  read.tokenizer_path = config.string("hf_assets_path");
  read.steps = config.integer("training.steps");
  read.sizes = config::plan_sizes(config, mesh);
  read.max_norm = config.floating("training.max_norm");
  read.precision = make_precision(config.string("training.dtype"), config.string("training.mixed_precision_param"),
                                  config.string("training.mixed_precision_reduce"));
  read.num_threads = config.optional_integer("training.num_threads");
  read.optimizer = read_optimizer(config);
  read.schedule = read_schedule(config);
  read.data = read_data(config, read.sizes);
  read.data.dp_rank = data_rank(mesh, rank);
  read.data.dp_degree = data_degree(mesh);
  read.end_of_data_is_error = config.string("dataloader.end_of_data") == "error";
  read.validation = read_validation(config);
  read.debug = read_debug(config);
  read.checkpoint = checkpoint::read_options(config, mesh.world_size());
  read.timeouts = {read_timeout(config, "comm.init_timeout_seconds"),
                   read_timeout(config, "comm.train_timeout_seconds")};
  return read;
}

}  // namespace titan::train
