#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/sdk/fake_host.hpp"
#include "titan/abi/all.h"

namespace titan::test {

/// Tensors without elements: a shape and a count of references. The tensor table's operators work on shapes.
struct FakeTensor {
  std::vector<std::int64_t> sizes;
  int references = 1;
};

/// A module tree that records what is declared, and calls custom modules; leaves give tensors of the right shape. Also
/// offers titan.tensor/1 on FakeTensor. One at a time in a thread.
class FakeTree {
 public:
  /// Offers both interfaces through `host`.
  explicit FakeTree(FakeHost& host);
  ~FakeTree();
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  titan_tree* handle() { return reinterpret_cast<titan_tree*>(this); }

  struct Parameter {
    std::string name;
    std::vector<std::int64_t> shape;
    titan_parameter data{};
  };
  struct Module {
    std::string name, kind;
    titan_module parent = 0;
    std::map<std::string, std::string> attributes;
    std::vector<Parameter> parameters;
    std::vector<std::string> shared;  // full names of parameters of others
    titan_forward_fn forward = nullptr;
    void* self = nullptr;
    void (*destroy)(void*) = nullptr;
  };

  const std::vector<Module>& modules() const { return modules_; }
  /// The module of that fully qualified name. Throws std::out_of_range.
  const Module& module(std::string_view name) const;
  titan_module id(std::string_view name) const;
  /// All parameters by fully qualified name.
  std::map<std::string, Parameter> parameters() const;
  /// "name" or "name+positions" for each block.
  const std::vector<std::string>& chain() const { return chain_; }
  const std::string& loss() const { return loss_; }
  /// Names of operators and leaves, in order of their calls.
  const std::vector<std::string>& calls() const { return calls_; }
  /// Tensors that exist now.
  static int live_tensors();

  static titan_tensor make(std::vector<std::int64_t> sizes);
  static std::vector<std::int64_t> sizes(titan_tensor tensor);
  static void release(titan_tensor tensor);

  /// Calls a module from outside; the error object, or null.
  titan_error* call(titan_module module, const std::vector<titan_tensor>& in, std::vector<titan_tensor>& out);

  /// Makes the n-th call from now on (1: the next) into either table fail.
  void fail_after(int calls) { fail_after_ = calls; }

 private:
  friend struct FakeTreeCallbacks;
  titan_error* maybe_fail(const char* function);
  void run_leaf(const Module& module, const titan_tensor* in, titan_tensor* out, std::uint32_t num_out);

  FakeHost& host_;
  titan_tree_v1 tree_{};
  titan_tensor_v1 tensor_{};
  std::vector<Module> modules_;
  std::vector<std::string> chain_;
  std::string loss_;
  std::vector<std::string> calls_;
  int fail_after_ = 0;
};

}  // namespace titan::test
