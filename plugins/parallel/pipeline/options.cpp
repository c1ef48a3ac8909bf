#include "plugins/parallel/pipeline/options.hpp"

namespace titan::parallel::pipeline {
namespace {

constexpr double kMostLayers = 65536;  // so that sums of them can be worked with

}  // namespace

Kind Options::kind() const {
  if (!csv.empty()) return Kind::file;
  if (schedule == "GPipe") return Kind::gpipe;
  return schedule == "Interleaved1F1B" ? Kind::interleaved : Kind::one_forward_one_backward;
}

void declare_options(sdk::Describe& declare) {
  declare.options({
      {kSchedule, kDefaultSchedule,
       "Order of forwards and backwards in a pipeline. 1F1B: each forward is followed by a backward as soon as there "
       "is "
       "one; GPipe: all forwards first; Interleaved1F1B: as 1F1B with several stages a rank, which wait less. "
       "Schedules "
       "that cut a backward in two (zero bubble, ZBV) are not offered.",
       sdk::one_of({"1F1B", "GPipe", "Interleaved1F1B"}), sdk::must_match},
      {kCsv, sdk::none<sdk::Path>,
       "File with the order instead, as torch writes it: one line a rank of actions such as 0F0,1F0,1B0 (stage, F or "
       "B, "
       "micro-batch), with SEND_F, RECV_F, SEND_B, RECV_B too or without; the rank of a stage is the one whose line "
       "has it.",
       sdk::must_match},
      {kLayersPerStage, sdk::none<int>,
       "Layers of a stage, the embedding and the head counted as the options of less layers say. None: one stage a "
       "rank, "
       "and two with Interleaved1F1B.",
       sdk::at_least(1), sdk::at_most(kMostLayers), sdk::must_match},
      {kFirstLess, 1, "How many layers the embedding counts as: so many fewer are on the first stage.",
       sdk::at_least(0), sdk::at_most(kMostLayers), sdk::must_match},
      {kLastLess, 1, "How many layers the head counts as: so many fewer are on the last stage.", sdk::at_least(0),
       sdk::at_most(kMostLayers), sdk::must_match},
      {kModules, sdk::Strings{""},
       "Blocks of each stage by name, instead of an even split: one text a stage, names separated by blanks, as in "
       "'tok_embeddings layers.0,layers.1 norm output' for 2 stages. Empty: split evenly.",
       sdk::must_match},
  });
}

Options read_options(const sdk::Config& config) {
  Options read;
  read.schedule = config.string(kSchedule);
  read.csv = config.get<std::optional<std::string>>(kCsv).value_or("");
  read.layers_per_stage = config.get<std::optional<std::int64_t>>(kLayersPerStage);
  read.first_stage_less_layers = config.integer(kFirstLess);
  read.last_stage_less_layers = config.integer(kLastLess);
  read.modules = config.strings(kModules);
  read.num_micro_batches = config.integer(kNumMicroBatches);
  return read;
}

}  // namespace titan::parallel::pipeline
