#include "core/train/rehearsal/rehearse.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/tensor/allocator.hpp"
#include "core/tensor/meta_kernels.hpp"
#include "core/tensor/shape_memory.hpp"
#include "core/train/ending.hpp"
#include "core/train/rehearsal/columns.hpp"
#include "core/train/rehearsal/parts.hpp"
#include "core/train/rehearsal/rank_rehearsal.hpp"
#include "core/train/torch_warnings.hpp"

namespace titan::train {
namespace {

/// Calls body(i) for i below count, on as many threads as there are cores for jobs of `width` threads.
template <class Body>
void run_side_by_side(std::size_t count, std::size_t width, const Body& body) {
  const std::size_t at_once = std::max<std::size_t>(1, std::thread::hardware_concurrency() / width);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < std::min(at_once, count); ++i) {
    workers.emplace_back([&] {
      for (std::size_t job = next++; job < count; job = next++) body(job);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

/// Rehearses columns, several at a time.
class Rehearsal {
 public:
  explicit Rehearsal(const RehearsalRequest& request) : request_(request) {}

  void run(const std::vector<Column>& columns) {
    run_side_by_side(columns.size(), columns.front().ranks.size(), [&](std::size_t i) { run_column(columns[i]); });
    if (failure_) std::rethrow_exception(failure_);
  }

  /// The same columns, each cut where ranks along dp_shard store parts of other sizes.
  std::vector<Column> split_along_shards(const std::vector<Column>& columns) {
    std::vector<std::vector<Column>> split(columns.size());
    run_side_by_side(columns.size(), 1, [&](std::size_t i) {
      guarded([&] {
        split[i] = train::split_along_shards(request_.mesh, columns[i], [&](const Column& one) { return sizes(one); });
      });
    });
    if (failure_) std::rethrow_exception(failure_);
    std::vector<Column> all;
    for (std::vector<Column>& part : split) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  /// Axes along which parameters are cut unevenly by the ranks that have run.
  std::set<config::Axis> uneven_axes() const {
    std::set<config::Axis> all;
    for (const auto& [position, axes] : uneven_) all.insert(axes.begin(), axes.end());
    return all;
  }
  /// Says which columns the one stands for that has run.
  void stand_for(const Column& column) {
    for (RehearsedRank& rank : ranks_) {
      const auto position = std::ranges::find(column.ranks, rank.rank) - column.ranks.begin();
      add_represented(column, static_cast<std::size_t>(position), rank);
    }
  }
  std::vector<RehearsedRank> take_ranks() {
    std::sort(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return std::move(ranks_);
  }

 private:
  LayoutRank make(std::int64_t rank) {
    const std::scoped_lock lock(mutex_);
    return request_.make_rank(rank);
  }

  /// What a column's ranks store, those of pipeline ranks that cut something unevenly.
  std::string sizes(const Column& column) {
    std::string text;
    for (const auto& [position, axes] : uneven_) {
      if (axes.empty()) continue;
      const std::int64_t rank = column.ranks[position];
      text += part_sizes(make(rank), request_.mesh, rank) + '|';
    }
    return text;
  }

  /// Keeps what the body throws, if nothing was thrown before; nothing more is begun then.
  template <class Body>
  bool guarded(const Body& body) {
    try {
      if (!has_failed_) body();
      return true;
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
      return false;
    }
  }

  void run_column(const Column& column) {
    comm::FakeWorld world(request_.mesh, request_.over_gloo);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < column.ranks.size(); ++i) {
      threads.emplace_back([&, i] {
        if (guarded([&] { run_rank(world, column, i); })) return;
        world.abort(concat("rank ", column.ranks[i], " failed"));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void run_rank(comm::FakeWorld& world, const Column& column, std::size_t position) {
    const std::int64_t rank = column.ranks[position];
    std::vector<config::Axis> uneven;
    RehearsedRank answer = rehearse_rank(world, make(rank), request_.mesh, rank, request_.steps, uneven);
    add_represented(column, position, answer);
    const std::scoped_lock lock(mutex_);
    uneven_[position] = std::move(uneven);
    ranks_.push_back(std::move(answer));
  }

  static void add_represented(const Column& column, std::size_t position, RehearsedRank& rank) {
    for (const Column& other : column.stands_for) rank.stands_for.push_back(other.ranks[position]);
    std::sort(rank.stands_for.begin(), rank.stands_for.end());
  }

  const RehearsalRequest& request_;
  std::mutex mutex_;
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
  std::map<std::size_t, std::vector<config::Axis>> uneven_;
  std::vector<RehearsedRank> ranks_;
};

std::vector<RehearsedRank> only(std::vector<RehearsedRank> ranks, const std::vector<std::int64_t>& wanted) {
  std::erase_if(ranks, [&](const RehearsedRank& rank) { return std::ranges::find(wanted, rank.rank) == wanted.end(); });
  return ranks;
}

std::vector<RehearsedRank> asked_ranks(const RehearsalRequest& request) {
  std::vector<Column> asked;
  std::set<std::int64_t> seen;
  for (const std::int64_t rank : request.ranks) {
    Column column = column_of(request.mesh, rank);
    if (seen.insert(column.ranks.front()).second) asked.push_back(std::move(column));
  }
  Rehearsal rehearsal(request);
  rehearsal.run(asked);
  return only(rehearsal.take_ranks(), request.ranks);
}

/// Around a ring each rank sees other blocks of the keys.
std::vector<config::Axis> distinct_axes(const config::Mesh& mesh) {
  return mesh.degree(config::Axis::cp) > 1 ? std::vector{config::Axis::cp} : std::vector<config::Axis>();
}

std::vector<RehearsedRank> ranks_of_each_kind(const RehearsalRequest& request) {
  std::vector<config::Axis> distinct = distinct_axes(request.mesh);
  const Column zero = columns(request.mesh, {}).front();
  // The first column shows along which axes others have parts of other sizes.
  Rehearsal first(request);
  first.run({{zero.ranks, {}}});
  bool shards_differ = false;
  for (const config::Axis axis : first.uneven_axes()) {
    if (axis == config::Axis::dp_shard) {
      shards_differ = true;
    } else if (std::ranges::find(distinct, axis) == distinct.end()) {
      distinct.push_back(axis);
    }
  }
  std::vector<Column> all = columns(request.mesh, distinct);
  if (shards_differ) all = first.split_along_shards(all);
  first.stand_for(all.front());
  if (all.size() > 1) first.run({all.begin() + 1, all.end()});
  return first.take_ranks();
}

std::vector<RehearsedRank> every_rank(const RehearsalRequest& request) {
  Rehearsal rehearsal(request);
  rehearsal.run(columns(request.mesh, {config::kAxes.begin(), config::kAxes.end()}));
  return rehearsal.take_ranks();
}

/// libtorch's words for an operator without a kernel are for people who write compilers.
[[noreturn]] void rethrow_readable() {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    const std::size_t end = text.find(": attempted to run this operator with Meta tensors");
    if (end == std::string::npos) throw;
    throw ConfigError("[rehearse] an operator of the model or of a strategy cannot be rehearsed, it has no kernel for ",
                      "tensors without values: ", printable(text.substr(0, end)));
  }
}

RehearsalReport run_request(const RehearsalRequest& request) {
  const double begin = monotonic_seconds();
  RehearsalReport report;
  report.layout = request.mesh.describe();
  report.ranks = !request.ranks.empty() ? asked_ranks(request)
                 : request.all_ranks    ? every_rank(request)
                                        : ranks_of_each_kind(request);
  report.seconds = monotonic_seconds() - begin;
  return report;
}

}  // namespace

RehearsalReport rehearse(const RehearsalRequest& request) {
  tensor::install_cpu_allocator();
  tensor::install_meta_allocator();
  tensor::register_meta_kernels();
  const TorchWarningsToLog warnings;
  try {
    at::set_num_threads(1);  // ranks share the cores, and there is nothing to compute
    try {
      return run_request(request);
    } catch (...) {
      rethrow_readable();
    }
  } catch (...) {
    rethrow_for_host();
  }
}

}  // namespace titan::train
