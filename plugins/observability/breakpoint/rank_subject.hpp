#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/observability/breakpoint/prompt.hpp"
#include "titan/sdk/guard.hpp"
#include "titan/torch/tree.hpp"

namespace titan::observability {

/// A tensor that is there where the rank stands, by its name.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// A rank that stands at a breakpoint. Lives while it does; training thread.
class RankSubject : public Subject {
 public:
  /// `label` says where it stands: "entering layers.2". `module` is where that is; empty: in none.
  RankSubject(const sdk::GuardHandles& handles, std::string label, std::string module, NamedTensors tensors);

  std::string where() const override;
  std::string module(const std::string& name) const override;
  std::string stats(const std::string& name) const override;
  std::string print(const std::string& name, const std::string& slice) const override;
  std::string grad(const std::string& name, const std::string& slice) const override;

  /// "rank 1 (step 3, micro-batch 0, forward, entering layers.2)".
  std::string place() const;
  /// What somebody sees first, lines.
  std::string banner() const;

 private:
  struct Found {
    std::string name;
    at::Tensor tensor;
    std::string note;  // where it stands in the whole parameter
  };
  std::vector<Found> kept(std::int32_t kind) const;
  Found find(const std::string& name) const;
  Found find_gradient(const std::string& name) const;
  std::optional<strategy::Module> find_module(const std::string& name) const;
  std::vector<std::string> names() const;
  std::string parameter_line(const strategy::Parameter& parameter) const;
  /// The name as it is, and as one inside the module where the rank stands.
  std::vector<std::string> spellings(const std::string& name) const;

  sdk::GuardHandles handles_;
  strategy::Tree tree_;
  titan_place place_;
  std::string label_, module_;
  NamedTensors tensors_;
};

}  // namespace titan::observability
