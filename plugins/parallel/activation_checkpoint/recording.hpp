#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/parallel/activation_checkpoint/operator_policy.hpp"
#include "plugins/parallel/activation_checkpoint/operator_watch.hpp"
#include "titan/abi/memory.h"

namespace titan::parallel {

/// What is recorded of a block's forward and held against its recomputation.
struct RecordingRules {
  bool keeps_results = false;             // those that OperatorPolicy names: the recomputation takes them over
  bool checks_operators = true;           // the same operators have to give results of the same types and sizes
  bool checks_values = false;             // and of the same bits; both passes are told in full when they differ
  const titan_memory_v1* host = nullptr;  // knows which module runs; null: nobody does
};

/// An operator that ran, and its results.
struct OperatorRun {
  struct Result {
    at::ScalarType dtype;
    std::vector<std::int64_t> sizes;
    std::size_t digest = 0;  // of the bits, where values are checked
    bool operator==(const Result&) const = default;
  };
  c10::OperatorHandle op;
  std::vector<Result> results;
  std::string_view module = {};  // that ran it; lives as long as the run
  /// Whether the same operator gave the same.
  bool operator==(const OperatorRun& other) const { return op == other.op && results == other.results; }
};

/// What a forward leaves to its recomputation.
struct Recording {
  struct Kept {
    c10::OperatorHandle op;
    std::vector<OperatorRun::Result> arguments;
    std::vector<c10::IValue> results;
    std::vector<std::uint32_t> versions;  // of the results that are tensors
  };
  std::deque<Kept> kept;
  std::vector<OperatorRun> runs;
};

/// Records a forward. c10::Error names an operator that changes a kept result in place.
class Recorder : public OperatorWatcher {
 public:
  Recorder(const RecordingRules& rules, Recording& recording) : rules_(rules), recording_(recording) {}
  bool answer(const c10::OperatorHandle& op, torch::jit::Stack& stack) override;
  void done(const c10::OperatorHandle& op, const torch::jit::Stack& stack) override;

 private:
  void refuse_change(const c10::OperatorHandle& op, const torch::jit::Stack& stack) const;

  RecordingRules rules_;
  Recording& recording_;
  OperatorPolicy policy_;
  bool keeps_this_ = false;
};

/// Gives a recomputation what was kept, and lets go of it. c10::Error names the first operator that differs.
class Replay : public OperatorWatcher {
 public:
  /// `tell` gets the lines of both passes when they differ and values are checked.
  Replay(const RecordingRules& rules, Recording recording, std::string block,
         std::function<void(const std::string& line)> tell);
  bool answer(const c10::OperatorHandle& op, torch::jit::Stack& stack) override;
  void done(const c10::OperatorHandle& op, const torch::jit::Stack& stack) override;
  /// Call at the recomputation's end: nothing may be left.
  void finish();

 private:
  void compare(const c10::OperatorHandle& op, const torch::jit::Stack& stack);
  [[noreturn]] void refuse(const std::string& difference) const;

  RecordingRules rules_;
  Recording recording_;
  std::string block_;
  std::function<void(const std::string&)> tell_;
  OperatorPolicy policy_;
  std::vector<OperatorRun> runs_;  // of the recomputation, so far
};

}  // namespace titan::parallel
