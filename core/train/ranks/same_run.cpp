#include "core/train/ranks/same_run.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/saved_config.hpp"
#include "core/train/ranks/agreement.hpp"

namespace titan::train {
namespace {

constexpr std::size_t kMostNamed = 5;
constexpr std::string_view kAbsent = "(not there)";

// One fact a line; values are TOML or printable text, which hold no line breaks.
std::string to_text(const RunFacts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += concat(name, '=', value, '\n');
  return text;
}

std::map<std::string, std::string> from_text(const std::string& text) {
  std::map<std::string, std::string> facts;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) facts[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return facts;
}

/// "5 on ranks 0, 1; 6 on rank 2", or nothing when all agree.
std::string disagreement(const std::string& name, const std::vector<std::map<std::string, std::string>>& by_rank) {
  std::map<std::string, std::vector<std::int64_t>> ranks_by_value;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const auto found = by_rank[rank].find(name);
    const std::string value = found == by_rank[rank].end() ? std::string(kAbsent) : found->second;
    ranks_by_value[value].push_back(static_cast<std::int64_t>(rank));
  }
  if (ranks_by_value.size() == 1) return {};
  std::vector<std::string> sides;
  for (const auto& [value, ranks] : ranks_by_value) sides.push_back(concat(value, " on ", list_ranks(ranks)));
  return join(sides, "; ");
}

std::vector<std::string> disagreements(const std::vector<std::string>& texts) {
  std::vector<std::map<std::string, std::string>> by_rank;
  std::map<std::string, std::string> names;
  for (const std::string& text : texts) {
    by_rank.push_back(from_text(text));
    names.insert(by_rank.back().begin(), by_rank.back().end());
  }
  std::vector<std::string> found;
  for (const auto& [name, value] : names) {
    const std::string text = disagreement(name, by_rank);
    if (!text.empty()) found.push_back(concat(name, ": ", text));
  }
  return found;
}

}  // namespace

RunFacts facts_of(const EngineRun& run) {
  RunFacts facts{{"--module", run.config->module()}};
  for (auto& [name, value] : checkpoint::saved_config(*run.config)) facts.emplace_back(name, value);
  for (const std::string& digest : run.plugin_digests) {
    facts.emplace_back(concat("plugin ", digest.substr(0, digest.find(' '))), printable(digest));
  }
  return facts;
}

void require_same_run(const RunFacts& facts, Ranks& ranks) {
  if (ranks.alone()) return;
  const std::string text = to_text(facts);
  const std::vector<std::string> hashes = comm::gather_texts(ranks.communicator().world(), hash128(text));
  if (std::all_of(hashes.begin(), hashes.end(), [&](const std::string& hash) { return hash == hashes.front(); })) {
    return;
  }
  std::vector<std::string> found = disagreements(comm::gather_texts(ranks.communicator().world(), text));
  ranks.part();
  const std::string more = found.size() > kMostNamed ? concat("; and ", found.size() - kMostNamed, " more") : "";
  found.resize(std::min(found.size(), kMostNamed));
  throw ConfigError("[train] ranks were started with different values of what must be equal on all of them: ",
                    join(found, "; "), more, ": give every rank the same command line, files and plugins");
}

}  // namespace titan::train
