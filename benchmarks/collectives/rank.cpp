#include "benchmarks/collectives/rank.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "core/base/clock.hpp"
#include "core/base/text.hpp"
#include "core/comm/communicator.hpp"

namespace titan::benchmark {
namespace {

constexpr auto kPatience = std::chrono::minutes(5);

using Call = std::function<comm::WorkPtr(comm::Group& group)>;

/// A call that is made over both sides in turn.
struct Case {
  const char* name;
  std::int64_t bytes;  // of the whole tensor
  int num_calls[2];    // at a time, ours and theirs
  Call call;
  bool is_of_rate;
};

class Bench {
 public:
  Bench(const Task& task, std::int64_t rank) : task_(task), rank_(rank) {
    for (const int side : {0, 1}) {
      RankEnvironment environment;
      environment.rank = environment.local_rank = rank;
      environment.world_size = environment.local_world_size = task.num_ranks;
      environment.master_address = "127.0.0.1";
      environment.master_port = task.ports[side];
      environment.run_id = concat("side", side);
      if (rank == 0) environment.store_socket = task.sockets[side];
      sides_[side] = comm::connect(config::Mesh({1, 1, task.num_ranks, 1, 1}, task.num_ranks), environment, kPatience,
                                   at::kCPU, side == 0 ? comm::CpuBackend::shm : comm::CpuBackend::gloo);
    }
  }

  void run(const Case& tested) {
    if (std::string_view(tested.name).find(task_.only) == std::string_view::npos) return;
    std::vector<double> seconds[2], copies;
    std::vector<Probe> probes;
    for (int pair = -1; pair < task_.pairs; ++pair) {
      const Probe probe = measure_probe();
      double found[2] = {};
      for (const int turn : {0, 1}) {
        const int side = (pair + 1 + turn) % 2;
        found[side] = seconds_of(tested, side);
      }
      const double copy = seconds_of_copy(tested.bytes);
      if (pair < 0) continue;
      probes.push_back(probe);
      copies.push_back(copy);
      for (const int side : {0, 1}) seconds[side].push_back(found[side]);
    }
    if (rank_ == 0) print(tested, seconds[0], seconds[1], copies, probes);
  }

 private:
  double seconds_of(const Case& tested, int side) {
    comm::Group& world = sides_[side]->world();
    for (int i = 0; i < 2; ++i) tested.call(world)->wait();
    world.barrier();
    const double begin = monotonic_seconds();
    for (int i = 0; i < tested.num_calls[side]; ++i) tested.call(world)->wait();
    return (monotonic_seconds() - begin) / tested.num_calls[side];
  }

  /// One copy of as many bytes, on rank 0 alone.
  double seconds_of_copy(std::int64_t bytes) {
    sides_[0]->world().barrier();
    if (rank_ != 0) return 0;
    const at::Tensor from = at::ones({bytes}, at::kByte), to = at::zeros({bytes}, at::kByte);
    const double begin = monotonic_seconds();
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), static_cast<std::size_t>(bytes));
    return monotonic_seconds() - begin;
  }

  void print(const Case& tested, const std::vector<double>& ours, const std::vector<double>& theirs,
             const std::vector<double>& copies, const std::vector<Probe>& probes) const {
    const Probe usual = usual_probe(probes);
    const std::vector<double> ratios = steady_ratios(theirs, ours, probes);
    const Interval interval = bootstrap_median(ratios);
    const auto rate = [&](const std::vector<double>& seconds) {
      return static_cast<double>(tested.bytes) / median(seconds) / 1e9;
    };
    if (tested.is_of_rate) {
      std::printf("%-22s shm %8.2f GB/s  gloo %6.2f GB/s  one memcpy %6.2f GB/s\n", tested.name, rate(ours),
                  rate(theirs), rate(copies));
    } else {
      std::printf("%-22s shm %8.2f us    gloo %6.2f us\n", tested.name, median(ours) * 1e6, median(theirs) * 1e6);
    }
    std::printf(
        "  ratio: %.2f (95 %% interval %.2f to %.2f, %zu of %zu pairs steady); probes: product %.2f ms, copy %.2f ms\n",
        interval.median, interval.low, interval.high, ratios.size(), probes.size(), usual.product * 1e3,
        usual.copy * 1e3);
    std::fflush(stdout);
  }

  Task task_;
  std::int64_t rank_;
  std::unique_ptr<comm::Communicator> sides_[2];
};

}  // namespace

void run_rank(const Task& task, std::int64_t rank) {
  at::set_num_threads(1);
  Bench bench(task, rank);
  constexpr std::int64_t kSmall = 4 << 10, kLarge = 64 << 20;
  const at::Tensor small = at::zeros({kSmall / 4}), large = at::zeros({kLarge / 4});
  const at::Tensor half = at::zeros({large.numel() / 4 / task.num_ranks, 4}), whole = large.view({-1, 4});
  bench.run({"all_reduce 4 KiB", kSmall, {2000, 300}, [&](comm::Group& g) { return g.all_reduce(small); }, false});
  bench.run({"all_reduce 64 MiB", kLarge, {6, 1}, [&](comm::Group& g) { return g.all_reduce(large); }, true});
  bench.run({"all_gather 64 MiB", kLarge, {6, 1}, [&](comm::Group& g) { return g.all_gather(whole, half); }, true});
  bench.run(
      {"reduce_scatter 64 MiB", kLarge, {6, 1}, [&](comm::Group& g) { return g.reduce_scatter(half, whole); }, true});
}

}  // namespace titan::benchmark
