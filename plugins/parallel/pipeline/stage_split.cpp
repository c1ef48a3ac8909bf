#include "plugins/parallel/pipeline/stage_split.hpp"

#include <algorithm>
#include <string_view>

#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

bool is_numbered(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return !last.empty() && last.size() < name.size() &&
         std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What the parts of a chain count as when layers are spread.
struct Weights {
  std::int64_t before, layers, after;
  std::int64_t total() const { return before + layers + after; }
  std::string text() const {
    return sdk::concat("layers ", layers, " + embedding ", before, " + head ", after, " = ", total());
  }
};

Weights weights_of(const Options& options, const ChainParts& parts) {
  return {parts.num_before > 0 ? options.first_stage_less_layers : 0, parts.num_layers,
          parts.num_after > 0 ? options.last_stage_less_layers : 0};
}

void check_stages_per_rank(const Options& options, std::int64_t num_stages, std::int64_t num_ranks,
                           const std::string& arithmetic) {
  if (options.kind() == Kind::file) return;
  if (num_stages % num_ranks != 0) {
    throw sdk::ConfigError("[pipeline] the stages must spread evenly over the ranks of the pipeline: ", arithmetic,
                           num_stages, " stages, ", num_ranks, " ranks");
  }
  const std::int64_t per_rank = num_stages / num_ranks;
  const bool is_single = options.kind() != Kind::interleaved;
  if (is_single ? per_rank == 1 : per_rank >= 2) return;
  throw sdk::ConfigError("[pipeline] ", kSchedule, " ", options.schedule,
                         is_single ? " runs one stage a rank: " : " runs at least two stages a rank: ", arithmetic,
                         num_stages, " stages / ", num_ranks, " ranks = ", per_rank,
                         is_single ? ": Interleaved1F1B runs several" : ": 1F1B and GPipe run one");
}

void require_layers(std::int64_t num_stages, const Weights& weights) {
  if (num_stages <= weights.total()) return;
  throw sdk::ConfigError("[pipeline] there are more stages than layers: ", num_stages, " stages, ", weights.text(),
                         ": fewer ranks in the pipeline, or fewer stages a rank");
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<titan_stage> named_stages(const Options& options, const std::vector<std::string>& blocks) {
  std::vector<titan_stage> stages;
  std::uint32_t next = 0;
  for (const std::string& text : options.modules) {
    const auto index = static_cast<std::uint32_t>(stages.size());
    titan_stage stage{index, next, 0, 0};
    for (const std::string& name : words(text)) {
      if (std::find(blocks.begin(), blocks.end(), name) == blocks.end()) {
        throw sdk::ConfigError("[pipeline] ", kModules, " names no block of the chain: ", name, ", stage ", index);
      }
      if (next == blocks.size() || blocks[next] != name) {
        throw sdk::ConfigError("[pipeline] ", kModules,
                               " must name every block once, in the order of the chain: ", name, " on stage ", index,
                               ", next is ", next < blocks.size() ? blocks[next] : "the end");
      }
      ++next, ++stage.count;
    }
    if (stage.count == 0) throw sdk::ConfigError("[pipeline] ", kModules, " leaves a stage without blocks: ", index);
    stages.push_back(stage);
  }
  if (next < blocks.size()) {
    throw sdk::ConfigError("[pipeline] ", kModules, " leaves out a block of the chain: ", blocks[next]);
  }
  return stages;
}

}  // namespace

ChainParts parts_of(const std::vector<std::string>& blocks) {
  const auto count = static_cast<std::int64_t>(blocks.size());
  const auto first = std::find_if(blocks.begin(), blocks.end(), is_numbered);
  if (first == blocks.end()) return {0, count, 0};
  const auto last = std::find_if(blocks.rbegin(), blocks.rend(), is_numbered);
  ChainParts parts{first - blocks.begin(), 0, last - blocks.rbegin()};
  parts.num_layers = count - parts.num_before - parts.num_after;
  return parts;
}

std::int64_t count_stages(const Options& options, std::int64_t num_ranks, const ChainParts& parts) {
  const Weights weights = weights_of(options, parts);
  std::string arithmetic;
  std::int64_t stages = num_ranks * (options.kind() == Kind::interleaved ? 2 : 1);
  if (!options.modules.empty()) {
    stages = static_cast<std::int64_t>(options.modules.size());
    arithmetic = sdk::concat(kModules, " names ");
  } else if (options.layers_per_stage) {
    stages = (weights.total() + *options.layers_per_stage - 1) / *options.layers_per_stage;
    arithmetic = sdk::concat(weights.text(), ", ", kLayersPerStage, " ", *options.layers_per_stage, ": ");
  }
  check_stages_per_rank(options, stages, num_ranks, arithmetic);
  if (options.modules.empty()) require_layers(stages, weights);  // named blocks count by themselves
  return stages;
}

std::vector<titan_stage> split_stages(const Options& options, const std::vector<std::string>& blocks,
                                      std::int64_t num_stages) {
  if (!options.modules.empty()) return named_stages(options, blocks);
  const ChainParts parts = parts_of(blocks);
  const Weights weights = weights_of(options, parts);
  require_layers(num_stages, weights);
  std::vector<titan_stage> stages;
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < num_stages; ++i) {
    const std::int64_t share = weights.total() / num_stages + (i < weights.total() % num_stages ? 1 : 0);
    const bool is_first = i == 0, is_last = i + 1 == num_stages;
    const std::int64_t less = (is_first ? weights.before : 0) + (is_last ? weights.after : 0);
    const std::int64_t count = share - less + (is_first ? parts.num_before : 0) + (is_last ? parts.num_after : 0);
    if (less > share || count == 0) {
      throw sdk::ConfigError("[pipeline] ", is_first ? kFirstLess : kLastLess, " leaves nothing for stage ", i, ": ",
                             weights.text(), ", of ", num_stages, " stages this one has ", share, " - ", less);
    }
    stages.push_back(
        {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(next), static_cast<std::uint32_t>(count), 0});
    next += count;
  }
  return stages;
}

}  // namespace titan::parallel::pipeline
