#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/nn/attributes.hpp"
#include "core/nn/tree.hpp"

namespace titan::nn {

class RopeTables;

/// A parameter that a leaf kind needs.
struct ParameterRule {
  std::string_view name;
  std::size_t num_dims;
};

/// A buffer that a leaf keeps. It belongs to the module above the leaf, as torchtitan has it.
struct BufferRule {
  std::string_view name;
  std::vector<std::int64_t> shape;
  at::ScalarType dtype;
  bool is_saved;   // whether a checkpoint holds it
  bool is_summed;  // int64, over the ranks of a pipeline stage, before end_step()
};

/// What a leaf is made from.
struct LeafSetup {
  std::string module;  // fully qualified name
  Attributes attributes;
  RopeTables& rope_tables;
};

/// A module that the host implements. Errors are PluginErrors that name the module.
class Leaf {
 public:
  explicit Leaf(const LeafSetup& setup) : module_(setup.module) {}
  virtual ~Leaf() = default;
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;

  /// The parameters it needs, in the order forward reads them.
  virtual std::span<const ParameterRule> parameters() const { return {}; }
  /// The buffers it keeps, in the order of Frame::buffer.
  virtual std::vector<BufferRule> buffers() const { return {}; }
  virtual Tensors forward(Frame& frame, const Tensors& in) = 0;
  /// Ends a step: `buffers` in order; the summed ones hold the sums of all ranks.
  virtual void end_step(const std::vector<Buffer*>& /*buffers*/) {}

 protected:
  /// The module's fully qualified name.
  const std::string& name() const { return module_; }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw PluginError("[", module_, "] ", parts...);
  }
  void require_inputs(const Tensors& in, std::size_t least, std::size_t most) const;
  /// Throws unless the tensor has that many dims; `input` names it.
  void require_dims(const at::Tensor& tensor, std::int64_t num_dims, std::string_view input) const;
  void require_floating(const at::Tensor& tensor, std::string_view input) const;
  void require_int64(const at::Tensor& tensor, std::string_view input) const;
  void require_size(const at::Tensor& tensor, std::int64_t dim, std::int64_t size, std::string_view input) const;
  void require_same_shape(const at::Tensor& tensor, const at::Tensor& other, std::string_view input) const;

 private:
  std::string module_;
};

using LeafFactory = std::unique_ptr<Leaf> (*)(LeafSetup& setup);

std::unique_ptr<Leaf> make_linear(LeafSetup& setup);
std::unique_ptr<Leaf> make_embedding(LeafSetup& setup);
std::unique_ptr<Leaf> make_rms_norm(LeafSetup& setup);
std::unique_ptr<Leaf> make_rope(LeafSetup& setup);
std::unique_ptr<Leaf> make_attention(LeafSetup& setup);
std::unique_ptr<Leaf> make_swiglu(LeafSetup& setup);
std::unique_ptr<Leaf> make_router(LeafSetup& setup);
std::unique_ptr<Leaf> make_grouped_experts(LeafSetup& setup);
std::unique_ptr<Leaf> make_cross_entropy(LeafSetup& setup);

/// The factory of a kind ("titan.linear"). PluginError names the module and lists the kinds.
LeafFactory leaf_factory(std::string_view kind, std::string_view module);

}  // namespace titan::nn
