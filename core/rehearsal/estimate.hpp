#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"
#include "core/rehearsal/hardware.hpp"

namespace titan::rehearsal {

/// What a step gets done, all ranks together.
struct Workload {
  std::int64_t tokens = 0;           // 0: not known
  double model_flops_per_token = 0;  // without recomputation, as MFU counts; 0: not known
};

/// When a span of a rehearsed rank happens, in seconds from the begin of the step. Waits for other ranks before its
/// first and after its last FLOP do not belong to it: what is between the spans of a pipeline is its bubble.
struct TimedSpan {
  std::size_t span = 0;  // index into RehearsedRank::spans
  double begin = 0, end = 0;
  double idle = 0;     // of it waiting for other ranks
  double exposed = 0;  // of it waiting for transfers under way
};

/// Where a rehearsed rank's time goes. The three parts add up to the step.
struct RankTime {
  std::int64_t rank = 0;    // RehearsedRank::rank
  double compute = 0;       // seconds
  double exposed = 0;       // waits while a transfer is under way: communication that nothing overlaps
  double idle = 0;          // waits for ranks that are not there yet, and for the last one at the end: bubbles
  double communicated = 0;  // seconds of its transfers, overlapped or not
  double end = 0;           // when it is done with the step
  std::vector<TimedSpan> spans;
};

/// How long a step may take on some hardware: computed from stated figures, not measured.
struct Estimate {
  double step_seconds = 0;
  std::vector<RankTime> ranks;              // in the order of the report; of the slowest ranks each stands for
  std::optional<double> tokens_per_second;  // of the layout; where the workload's tokens are known
  std::optional<double> model_utilisation;  // MFU: model FLOPs / (step x ranks x peak); where they are known
  double hardware_utilisation = 0;          // HFU: FLOPs done, recomputed ones too, in the place of the model's
  double mean_idle_share = 0;               // over all ranks of the layout that are represented
  double mean_exposed_share = 0;
  bool is_partial = false;            // ranks that nobody stands for were taken to be never late
  std::vector<std::string> formulas;  // what was computed how, with the figures: a line each, to be shown
};

/// Runs the last step of a rehearsal on a clock. Sound reports only (match(), find_deadlock()): nothing where the ranks
/// do not come to their end.
///
/// - Computation takes FLOPs / (peak x compute efficiency); what moves memory only, and launching, take none.
/// - A collective begins when its last member has started it and the channel is done with the one before; it takes
///   ring steps x latency + bytes a rank sends / bandwidth. Of n members and S bytes in all (the larger of input and
///   output) a rank sends S (n-1)/n in all-gather, reduce-scatter and all-to-all (n-1 steps), twice that in all-reduce
///   (2 (n-1) steps), S in a broadcast (n-1 steps, pipelined); a barrier takes its steps.
///   (R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in MPICH, 2005;
///   the same factors as NVIDIA nccl-tests' doc/PERFORMANCE.md.)
/// - Bandwidth: NVLink's where all members are in one node; else the network's share of the members in a node (NCCL
///   drives all their cards), at most NVLink's.
/// - A send begins when both sides have started it and takes latency + bytes / bandwidth. Two ranks do theirs in order.
std::optional<Estimate> estimate(const RehearsalReport& report, const config::Mesh& mesh, const Hardware& hardware,
                                 const Workload& workload);

}  // namespace titan::rehearsal
