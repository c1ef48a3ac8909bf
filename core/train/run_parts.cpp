#include "core/train/run_parts.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>

#include <utility>

#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
#include "core/train/determinism.hpp"
#include "core/train/machine.hpp"
#include "core/train/memory_need.hpp"
#include "core/train/precision.hpp"

namespace titan::train {

titan_model_facts model_facts(const EngineRun& run, std::int64_t length) {
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  plugin_call(run.host, run.model.plugin.c_str(), "facts",
              [&] { return run.model.table->facts(run.model.ctx, length, &facts); });
  return facts;
}

data::Loader open_training_data(const RunOptions& options, const std::shared_ptr<const data::Tokenizer>& tokenizer,
                                const StopFlag* stop) {
  data::Loader loader(options.data, tokenizer, stop);
  const data::DatasetSummary& found = loader.dataset();
  log_info("train", "data: ", printable(options.data.path.native()), ", ", found.documents, " documents in ",
           found.files, found.files == 1 ? " file" : " files");
  return loader;
}

void build_tree(const EngineRun& run, nn::Tree& tree) {
  plugin_call(run.host, run.model.plugin.c_str(), "build",
              [&] { return run.model.table->build(run.model.ctx, reinterpret_cast<titan_tree*>(&tree)); });
  tree.validate();
}

void materialise(const RunOptions& options, Ranks& ranks, nn::Tree& tree, bool has_values) {
  std::int64_t seed = options.debug.seed.value_or(draw_seed());
  if (!options.debug.seed && !ranks.alone()) {
    const at::Tensor drawn = at::full({1}, seed, at::kLong);
    ranks.communicator().world().broadcast(drawn, 0)->wait();
    seed = *drawn.data_ptr<std::int64_t>();
  }
  tree.materialise(options.precision, has_values ? at::kCPU : at::kMeta, static_cast<std::uint64_t>(seed));
  log_info("train", "seed ", seed,
           options.debug.seed ? "" : concat(": drawn, repeat this run with --debug.seed=", seed));
  log_info("train", "precision: ", describe(options.precision));
  for (const std::string& remark : remarks(options.precision)) log_warning("train", remark);
}

optim::AdamOptimizer make_optimizer(const RunOptions& options, const nn::Tree& tree) {
  optim::AdamOptimizer optimizer(all_parameters(tree), options.optimizer.rules, options.optimizer.defaults,
                                 options.optimizer.implementation);
  for (const auto& group : optimizer.groups()) {
    if (optimizer.groups().size() == 1) break;
    log_info("train", "optimizer ", name(group.options.algorithm), ", lr ", group.options.lr, ", weight decay ",
             group.options.weight_decay, ": ", group.parameters.size(), " parameters ",
             group.pattern.empty() ? "that no pattern matches" : concat("matching '", printable(group.pattern), "'"));
  }
  return optimizer;
}

optim::LrSchedule make_schedule(const RunOptions& options) {
  optim::LrSchedule schedule(options.schedule);
  for (const std::string& warning : schedule.warnings()) log_warning("train", warning);
  return schedule;
}

std::unique_ptr<Validator> make_validator(const RunOptions& options, nn::Tree& tree,
                                          std::shared_ptr<const data::Tokenizer> tokenizer, Ranks& ranks,
                                          Strategies& strategies, Pipeline* pipeline, const StopFlag* stop) {
  if (!options.validation.enable) return nullptr;
  data::LoaderOptions data = options.data;
  data.path = options.validation.dataset_path;
  data.shuffle = false;
  data.repeat = false;
  data.tail = data::Tail::pad;
  data.num_virtual_shards = 1;  // fewest rows that end in padding
  auto source =
      std::make_unique<LoaderSource>(data::Loader(data, std::move(tokenizer), ranks.alone() ? stop : nullptr));
  const Validator::Options how{options.validation.freq,
                               options.validation.steps,
                               data.rows_per_batch,
                               data.length,
                               &ranks,
                               &strategies,
                               pipeline};
  return std::make_unique<Validator>(tree, std::move(source), how, stop);
}

titan_run_event run_event(const RunOptions& options, const nn::Tree& tree, const titan_model_facts& facts,
                          const std::string& device_name) {
  titan_run_event event{};
  event.struct_size = sizeof event;
  event.device = TITAN_DEVICE_CPU;
  event.dump_folder = {options.dump_folder.data(), options.dump_folder.size()};
  event.first_step = 1;
  event.last_step = options.steps;
  event.num_parameters = num_elements(tree);
  event.num_flops_per_token = facts.num_flops_per_token;
  event.peak_flops = 0;  // no table of processors' peaks: their utilisation is unknown, not guessed
  event.memory_capacity = memory_capacity();
  event.device_name = {device_name.data(), device_name.size()};
  return event;
}

void announce(const EngineRun& run, const RunOptions& options, const Ranks& ranks, const titan_run_event& event) {
  log_info("train", "model: ", run.model.plugin, ' ', printable(run.config->config_name()), ", ", event.num_parameters,
           " parameters");
  log_info("train", "device: cpu, ", std::string_view(event.device_name.data, event.device_name.size), ", ",
           at::get_num_threads(), at::get_num_threads() == 1 ? " thread" : " threads");
  if (!ranks.alone()) log_info("train", "layout: ", ranks.mesh().describe(), ", this is rank ", ranks.rank());
  const std::int64_t degree = data_degree(ranks.mesh());
  const bool goes_on = event.first_step > 1;
  log_info("train",
           goes_on ? concat("training goes on at step ", event.first_step, ": ") : "training starts: ", options.steps,
           options.steps == 1 ? " step of " : " steps of ", describe(options.sizes),
           degree == 1 ? "" : concat(" on each of ", degree, " data-parallel ranks"));
}

}  // namespace titan::train
