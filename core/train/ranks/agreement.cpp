#include "core/train/ranks/agreement.hpp"

#include "core/base/text.hpp"

namespace titan::train {
namespace {

// POSIX's signals; real-time ones do not end a run.
constexpr int kSignals = 32;

constexpr std::size_t kDecisions = TITAN_DECISION_STOP + 1;

}  // namespace

Outlook agree(const Ranks* ranks, const Outlook& mine) {
  if (is_alone(ranks)) return mine;
  const double counts = counts_data(ranks->mesh(), ranks->rank()) ? 1 : 0;
  std::vector<double> sums{counts * static_cast<double>(mine.num_tokens), counts * static_cast<double>(mine.num_valid),
                           static_cast<double>(mine.ranks_without_data)};
  const std::size_t first_signal = sums.size();
  sums.resize(first_signal + kSignals);
  if (mine.stop_signal > 0 && mine.stop_signal < kSignals) {
    sums[first_signal + static_cast<std::size_t>(mine.stop_signal)] = 1;
  }
  comm::sum_over(ranks->communicator().world(), sums);
  if (!ranks->communicator().moves_data()) {
    const std::int64_t degree = data_degree(ranks->mesh());
    return {mine.num_tokens * degree, mine.num_valid * degree, 0, 0};
  }
  Outlook all{static_cast<std::int64_t>(sums[0]), static_cast<std::int64_t>(sums[1]),
              static_cast<std::int64_t>(sums[2]), 0};
  for (int signal = kSignals - 1; signal > 0; --signal) {
    if (sums[first_signal + static_cast<std::size_t>(signal)] > 0) all.stop_signal = signal;
  }
  return all;
}

Outcome agree(const Ranks* ranks, const Outcome& mine) {
  if (is_alone(ranks)) return mine;
  const bool counts_my_loss = counts_loss(ranks->mesh(), ranks->rank());
  const bool counts_my_data = counts_data(ranks->mesh(), ranks->rank());
  std::vector<double> sums{counts_my_loss ? mine.loss_sum : 0, mine.norm_squares,
                           counts_my_data ? static_cast<double>(mine.num_valid) : 0};
  comm::sum_over(ranks->communicator().world(), sums);
  return {sums[0], sums[1], static_cast<std::int64_t>(sums[2])};
}

Judgement agree(const Ranks* ranks, const Judgement& mine) {
  if (is_alone(ranks)) return mine;
  comm::Group& world = ranks->communicator().world();
  std::vector<double> counts(kDecisions);
  counts[static_cast<std::size_t>(mine.decision)] = 1;
  comm::sum_over(world, counts);
  Judgement all;
  for (std::size_t i = 0; i < kDecisions; ++i) {
    if (counts[i] > 0) all.decision = static_cast<std::int32_t>(i);
  }
  if (all.decision == TITAN_DECISION_CONTINUE) return all;
  const bool is_mine = mine.decision == all.decision;
  const std::vector<std::string> told =
      comm::gather_texts(world, is_mine ? concat(mine.code, '\n', mine.text) : std::string());
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    if (told[rank].empty()) continue;
    const std::size_t line = told[rank].find('\n');
    if (all.code == 0) all.code = std::stoi(told[rank].substr(0, line));
    if (line + 1 < told[rank].size()) texts.push_back(concat("rank ", rank, ": ", told[rank].substr(line + 1)));
  }
  all.text = join(texts, "; ");
  return all;
}

std::string concerned_ranks(const Ranks& ranks, bool concerned) {
  std::vector<double> flags(static_cast<std::size_t>(ranks.mesh().world_size()));
  flags[static_cast<std::size_t>(ranks.rank())] = concerned ? 1 : 0;
  comm::sum_over(ranks.communicator().world(), flags);
  std::vector<std::int64_t> found;
  for (std::size_t rank = 0; rank < flags.size(); ++rank) {
    if (flags[rank] > 0) found.push_back(static_cast<std::int64_t>(rank));
  }
  return list_ranks(found);
}

std::string list_ranks(const std::vector<std::int64_t>& ranks) {
  std::vector<std::string> numbers;
  for (const std::int64_t rank : ranks) numbers.push_back(concat(rank));
  return concat(ranks.size() == 1 ? "rank " : "ranks ", join(numbers, ", "));
}

}  // namespace titan::train
