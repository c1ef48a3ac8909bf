#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/config/layouts.hpp"

namespace titan {

/// What calls of a collective have in common that a rehearsed rank made: it makes the same ones again and again.
struct RehearsedCall {
  std::string op;                                       // PyTorch's name: "all_reduce", "_allgather_base", "send"
  std::string group;                                    // the name it was called under: "fsdp"
  std::string channel;                                  // tells groups of the run apart; the same on all its ranks
  std::string module;                                   // whose call; empty: none
  std::string dtype;                                    // "Float", "BFloat16"; empty: no tensor
  std::vector<std::int64_t> input_sizes, output_sizes;  // of the tensors; empty where there is none
  std::int64_t input_bytes = 0, output_bytes = 0;
  std::int64_t peer = -1;  // global rank, of sends and receives
  auto operator<=>(const RehearsedCall&) const = default;
};

/// A point in what a rehearsed rank does: it starts a call, or waits for one that it started.
struct RehearsedEvent {
  std::uint32_t call = 0;   // index into RehearsedRank::calls
  std::int32_t waits = -1;  // index of the event that started what is waited for; -1: this one starts
  double flops = 0;         // floating-point operations of this rank before
};

/// A stretch of a rehearsed rank's step: the forward of a micro-batch through a stage, the optimizer.
struct RehearsedSpan {
  std::string phase;              // "forward", "backward", "optimizer", ... : spans of a run are called the same
  std::int32_t micro_batch = -1;  // -1: of the whole step
  std::int32_t stage = -1;        // of the pipeline; -1: no pipeline
  std::size_t first_event = 0, last_event = 0;  // events in [first, last)
  double first_flops = 0, last_flops = 0;
};

/// What one rank did in a rehearsal, and how much memory that takes.
struct RehearsedRank {
  std::int64_t rank = 0;
  std::vector<std::int64_t> stands_for;                       // ranks with the same work, itself among them, increasing
  std::map<std::string, std::vector<std::int64_t>> channels;  // global ranks by name
  std::vector<RehearsedCall> calls;
  std::vector<RehearsedEvent> events;  // of the whole rehearsal
  std::size_t first_of_step = 0;       // the event the last step begins with; those before belong to the start
  double flops_before_step = 0, flops = 0;
  std::vector<RehearsedSpan> spans;  // of the last step
  std::int64_t num_parameters = 0;   // elements this rank stores
  std::int64_t num_operators = 0;    // of libtorch's, that were called
  // Live bytes at the moment they are most, by kind: "parameter", "compute form", "gradient", "optimizer state",
  // "activation", "gathered", "communication", "buffer", "other"; they add up to peak_bytes.
  std::vector<std::pair<std::string, std::int64_t>> peak_kinds;
  std::int64_t peak_bytes = 0;
  std::int64_t steady_bytes = 0;  // live between two steps
  std::string peak_place;         // "backward of micro-batch 3, layers.7.feed_forward"
};

/// What the host asks the engine to rehearse: a layout, whose ranks run one after the other or side by side, on tensors
/// that have shapes and no values.
struct RehearsalRequest {
  config::Mesh mesh;
  std::int64_t steps = 1;
  /// Ranks to run; empty: one of each kind.
  std::vector<std::int64_t> ranks;
  bool all_ranks = false;
  /// Ranks talk over gloo, whose calls take memory of their own.
  bool over_gloo = false;
  /// Makes a rank. Called by one thread at a time.
  std::function<LayoutRank(std::int64_t rank)> make_rank;
};

struct RehearsalReport {
  std::string layout;                // "pp 1 x dp_replicate 1 x dp_shard 2 x cp 1 x tp 1 = 2 ranks"
  std::vector<RehearsedRank> ranks;  // that were run, by increasing rank
  double seconds = 0;
};

}  // namespace titan
