#include "tests/unit/checkpoint/saved_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/support/thread_team.hpp"

namespace titan::checkpoint::testing {

namespace {

constexpr std::int64_t kRows = 12, kColumns = 5;
constexpr std::int64_t kCounts = 3;
constexpr float kPerHistory = 100'000, kPerStep = 100;

const TensorInfo& rows_info() {
  static const TensorInfo info{"model.rows", DType::f32, {kRows, kColumns}};
  return info;
}
const TensorInfo& counts_info() {
  static const TensorInfo info{"optimizer.counts", DType::i64, {kCounts}};
  return info;
}

float row_value(int history, std::int64_t step, std::int64_t element) {
  return static_cast<float>(history) * kPerHistory + static_cast<float>(step) * kPerStep + static_cast<float>(element);
}

}  // namespace

Saver::Options SavedRun::options() const {
  Saver::Options options;
  options.folder = folder;
  options.is_async = is_async;
  options.keep_latest_k = keep;
  options.loaded = loaded;
  options.origin = [this] {
    Origin origin;
    origin.world_size = num_ranks;
    origin.module = "llama3";
    return origin;
  };
  options.run_id = "run" + std::to_string(history);
  return options;
}

RankState::RankState(std::int64_t rank, std::int64_t num_ranks, int history, std::int64_t step)
    : rank_(rank), step_(step) {
  const std::int64_t first = kRows * rank / num_ranks;
  const std::int64_t last = kRows * (rank + 1) / num_ranks;
  for (std::int64_t element = first * kColumns; element < last * kColumns; ++element) {
    rows_.push_back(row_value(history, step, element));
  }
  parts_.push_back({rows_info(), {{first, 0}, {last - first, kColumns}}, reinterpret_cast<std::byte*>(rows_.data())});
  if (rank != num_ranks - 1) return;
  counts_.assign(kCounts, step);
  parts_.push_back({counts_info(), {{0}, {kCounts}}, reinterpret_cast<std::byte*>(counts_.data())});
}

SaveRequest RankState::request() const {
  SaveRequest request;
  request.step = step_;
  request.parts = parts_;
  TrainState state;
  state.step = step_;
  if (rank_ == 0) request.extra = {{kTrainStateFile, write_train_state(state)}};
  return request;
}

void run_rank(Team& team, SystemCalls& calls, const SavedRun& run,
              const std::function<void(std::int64_t step)>& committed) {
  Saver saver(team, calls, run.options());
  const auto tell = [&] {
    if (committed && saver.last_committed()) committed(*saver.last_committed());
  };
  for (const std::int64_t step : run.steps) {
    const RankState state(team.rank(), team.size(), run.history, step);
    saver.save(state.request());
    tell();
    saver.poll();
    tell();
  }
  saver.finish();
  tell();
}

void run_ranks(const SavedRun& run, RankCalls* calls, const std::function<void(std::int64_t step)>& committed) {
  test::run_team(run.num_ranks, [&](Team& team) {
    SystemCalls& own = calls == nullptr ? system_calls() : (*calls)[static_cast<std::size_t>(team.rank())];
    run_rank(team, own, run, committed);
  });
}

int history_of(const std::filesystem::path& folder, std::int64_t step) {
  const std::filesystem::path path = folder / step_name(step);
  try {
    const Source source = open_titan(path);
    for (const std::string& wrong : verify(source)) ADD_FAILURE() << path << ": " << wrong;
    std::vector<float> rows(kRows * kColumns);
    std::vector<std::int64_t> counts(kCounts);
    const std::vector<WantedPart> wanted = {
        {rows_info(), {{0, 0}, {kRows, kColumns}}, reinterpret_cast<std::byte*>(rows.data())},
        {counts_info(), {{0}, {kCounts}}, reinterpret_cast<std::byte*>(counts.data())}};
    read_parts(source, wanted);
    EXPECT_EQ(counts, std::vector<std::int64_t>(kCounts, step));
    EXPECT_EQ(source.train_state.value_or(TrainState{}).step, step);
    const int history = static_cast<int>(rows.front() / kPerHistory);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i], row_value(history, step, static_cast<std::int64_t>(i))) << path;
    }
    return history;
  } catch (const Error& error) {
    ADD_FAILURE() << path << ": " << error.what();
    return 0;
  }
}

std::vector<std::pair<std::int64_t, int>> histories_in(const std::filesystem::path& folder) {
  std::vector<std::pair<std::int64_t, int>> histories;
  for (const std::int64_t step : committed_steps(folder)) histories.emplace_back(step, history_of(folder, step));
  return histories;
}

std::vector<std::string> leftovers_in(const std::filesystem::path& folder) {
  std::vector<std::string> names = names_in(folder);
  std::erase_if(
      names, [&](const std::string& name) { return step_of_name(name) && why_not_committed(folder / name).empty(); });
  return names;
}

}  // namespace titan::checkpoint::testing
