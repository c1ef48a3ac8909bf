#pragma once

#include <ATen/record_function.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// Throws the exception being handled: libtorch's refusal of an operator, under a watch of this thread, as a
/// ConfigError that names operator and module; all else as it is. Call in a catch block.
[[noreturn]] void rethrow_named();

/// Names the module of an operator that has no deterministic kernel, where libtorch refuses it or warns of it: in
/// forward the one that runs, in backward the one whose forward made the autograd node. Of the calling thread, one at a
/// time; for runs with debug.deterministic.
class NondeterminismWatch {
 public:
  /// Attaches to the modules of a tree that is built and not called yet, and must outlive the object. What it attaches
  /// stays.
  explicit NondeterminismWatch(nn::Tree& tree);
  ~NondeterminismWatch();
  NondeterminismWatch(const NondeterminismWatch&) = delete;
  NondeterminismWatch& operator=(const NondeterminismWatch&) = delete;

 private:
  friend void rethrow_named();
  struct Node;
  /// Logs such a warning once for each operator and module, and hands on all others.
  struct Handler final : c10::WarningHandler {
    void process(const c10::Warning& warning) override;
    NondeterminismWatch* watch = nullptr;
    c10::WarningHandler* before = nullptr;
  };

  nn::Tensors noting_failure(nn::Frame& frame, nn::Next next, const nn::Tensors& in);
  void note(nn::ModuleId module);
  nn::ModuleId module_of(std::int64_t node) const;
  /// "layers.0.attention, in backward"
  std::string place(std::int64_t node) const;
  static std::unique_ptr<at::ObserverContext> node_begins(const at::RecordFunction& node);
  static void node_ends(const at::RecordFunction& node, at::ObserverContext* context);

  nn::Tree& tree_;
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);       // what is attached outlives this
  std::vector<std::pair<std::int64_t, nn::ModuleId>> node_modules_;  // from which number on nodes are of which module
  std::vector<std::int64_t> running_nodes_;                          // outermost first
  nn::ModuleId failed_module_ = TITAN_MODULE_ROOT;                   // the innermost whose forward threw
  std::int64_t failed_node_ = -1;                                    // the innermost that threw
  std::set<std::pair<std::string, std::string>> said_;
  at::CallbackHandle callback_;
  Handler handler_;
};

}  // namespace titan::train
