#include "core/train/rehearsal/rehearse.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/comm/description.hpp"
#include "core/tensor/allocator.hpp"
#include "core/tensor/meta_kernels.hpp"
#include "core/tensor/shape_memory.hpp"
#include "core/train/ending.hpp"
#include "core/train/rehearsal/columns.hpp"
#include "core/train/rehearsal/rank_rehearsal.hpp"
#include "core/train/torch_warnings.hpp"

namespace titan::train {
namespace {

/// Rehearses columns, several at a time.
class Rehearsal {
 public:
  explicit Rehearsal(const RehearsalRequest& request) : request_(request) {}

  void run(const std::vector<Column>& columns) {
    const std::size_t pipeline = columns.front().ranks.size();
    const std::size_t at_once = std::max<std::size_t>(1, std::thread::hardware_concurrency() / pipeline);
    std::vector<std::thread> workers;
    std::size_t next = 0;
    for (std::size_t i = 0; i < std::min(at_once, columns.size()); ++i) {
      workers.emplace_back([&] {
        while (const Column* column = take(columns, next)) run_column(*column);
      });
    }
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Axes along which parameters were cut unevenly, as far as the ranks that have run know.
  std::vector<config::Axis> uneven() const { return {uneven_.begin(), uneven_.end()}; }
  std::vector<RehearsedRank> take_ranks() {
    std::sort(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return std::move(ranks_);
  }

 private:
  const Column* take(const std::vector<Column>& columns, std::size_t& next) {
    const std::scoped_lock lock(mutex_);
    return failure_ || next == columns.size() ? nullptr : &columns[next++];
  }

  void run_column(const Column& column) {
    comm::FakeWorld world(request_.mesh);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < column.ranks.size(); ++i) {
      threads.emplace_back([&, i] { run_rank(world, column, i); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void run_rank(comm::FakeWorld& world, const Column& column, std::size_t position) {
    const std::int64_t rank = column.ranks[position];
    try {
      LayoutRank made;
      {
        const std::scoped_lock lock(mutex_);
        made = request_.make_rank(rank);
      }
      std::vector<config::Axis> uneven;
      RehearsedRank answer = rehearse_rank(world, made, request_.mesh, rank, request_.steps, uneven);
      for (const Column& other : column.stands_for) answer.stands_for.push_back(other.ranks[position]);
      std::sort(answer.stands_for.begin(), answer.stands_for.end());
      const std::scoped_lock lock(mutex_);
      uneven_.insert(uneven.begin(), uneven.end());
      ranks_.push_back(std::move(answer));
    } catch (...) {
      {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      world.abort(concat("rank ", rank, " failed: ", comm::error_text()));
    }
  }

  const RehearsalRequest& request_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::set<config::Axis> uneven_;
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
std::vector<config::Axis> distinct_from_the_start(const config::Mesh& mesh) {
  return mesh.degree(config::Axis::cp) > 1 ? std::vector{config::Axis::cp} : std::vector<config::Axis>();
}

std::vector<RehearsedRank> ranks_of_each_kind(const RehearsalRequest& request) {
  std::vector<config::Axis> distinct = distinct_from_the_start(request.mesh);
  std::vector<Column> all = columns(request.mesh, distinct);
  {
    // One column shows along which axes others are cut otherwise.
    Rehearsal first(request);
    first.run({all.front()});
    if (all.size() == 1 && first.uneven().empty()) return first.take_ranks();
    for (const config::Axis axis : first.uneven()) {
      if (std::ranges::find(distinct, axis) == distinct.end()) distinct.push_back(axis);
    }
  }
  Rehearsal rehearsal(request);
  rehearsal.run(columns(request.mesh, distinct));
  return rehearsal.take_ranks();
}

std::vector<RehearsedRank> every_rank(const RehearsalRequest& request) {
  Rehearsal rehearsal(request);
  rehearsal.run(columns(request.mesh, {config::kAxes.begin(), config::kAxes.end()}));
  return rehearsal.take_ranks();
}

}  // namespace

RehearsalReport rehearse(const RehearsalRequest& request) {
  tensor::install_cpu_allocator();
  tensor::install_meta_allocator();
  tensor::register_meta_kernels();
  const TorchWarningsToLog warnings;
  try {
    at::set_num_threads(1);  // ranks share the cores, and there is nothing to compute
    const double begin = monotonic_seconds();
    RehearsalReport report;
    report.layout = request.mesh.describe();
    report.ranks = !request.ranks.empty() ? asked_ranks(request)
                   : request.all_ranks    ? every_rank(request)
                                          : ranks_of_each_kind(request);
    report.seconds = monotonic_seconds() - begin;
    return report;
  } catch (...) {
    rethrow_for_host();
  }
}

}  // namespace titan::train
