#pragma once

#include <cmath>
#include <cstdint>

#include "titan/sdk/scope.hpp"

namespace titan::sdk {

/// How the weights of a SwiGLU network start.
struct FeedForwardInits {
  Init w1, w2, w3;
};

/// Start of the layers that write to the residual stream: smaller the more blocks (`depth`, from 1) have written
/// before.
inline Init residual_init(double std, std::int64_t depth) {
  return Init::trunc_normal(std / std::sqrt(2 * static_cast<double>(depth)));
}

/// Start of an output layer with `dim` inputs.
inline Init output_init(std::int64_t dim) {
  const double std = 1 / std::sqrt(static_cast<double>(dim));
  return Init::trunc_normal(std, -3 * std, 3 * std);
}

/// SwiGLU network: w2(silu(w1 x) * w3 x), x [..., D], hidden width F.
class FeedForward : public Module {
 public:
  FeedForward(Scope& s, std::int64_t dim, std::int64_t hidden_dim, const FeedForwardInits& inits)
      : w1_(s.linear("w1", dim, hidden_dim, Split::column, inits.w1)),
        w2_(s.linear("w2", hidden_dim, dim, Split::row, inits.w2)),
        w3_(s.linear("w3", dim, hidden_dim, Split::column, inits.w3)),
        swiglu_(s.swiglu("swiglu")) {}

  Tensor forward(Frame& f, const Tensor& x_BLD) const {
    const Tensor h_BLF = hidden(f, x_BLD);
    return f(w2_, h_BLF);
  }

 private:
  /// A function, so that gate and up are let go before w2 runs.
  Tensor hidden(Frame& f, const Tensor& x_BLD) const {
    const Tensor gate_BLF = f(w1_, x_BLD), up_BLF = f(w3_, x_BLD);
    return f(swiglu_, gate_BLF, up_BLF);
  }

  Leaf w1_, w2_, w3_, swiglu_;
};

}  // namespace titan::sdk
