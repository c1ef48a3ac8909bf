#pragma once

#include <memory>

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "tests/distributed/rank_plugins.hpp"

namespace titan::testing {

/// A qwen3 of the built plugin on one rank, in one dtype.
class Qwen {
 public:
  Qwen(const Settings& settings, at::ScalarType dtype);

  nn::Tree& tree() { return tree_; }
  /// The module of that name. std::runtime_error when there is none.
  nn::ModuleId module(std::string_view name) const;
  /// Overwrites a parameter. std::runtime_error when it does not exist or has another shape.
  void set(const std::string& name, const at::Tensor& value);
  /// The buffer of that name, or null.
  nn::Buffer* buffer(std::string_view name) const;

 private:
  comm::ThreadWorld world_{config::Mesh()};
  std::unique_ptr<comm::Communicator> rank_ = world_.join(0);
  config::Config config_;
  RankPlugins plugins_;
  nn::Tree tree_;
};

}  // namespace titan::testing
