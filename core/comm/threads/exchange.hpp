#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/comm/group.hpp"

namespace titan::comm {

/// What one rank hands over in a collective.
struct Share {
  std::string op;  // PyTorch's name
  Reduce reduce = Reduce::sum;
  std::int64_t root = -1;
  at::Tensor out = {}, in = {};
  std::vector<std::int64_t> out_rows = {}, in_rows = {};
};

/// What must be equal over the ranks of a collective, as a text for people: "all_reduce (sum) of float32 [4]".
std::string signature(const Share& share);

/// Does the collective for all ranks at once; `shares` by position, with equal signatures. Does not touch autograd.
/// PeerError: rows of an all-to-all do not match.
void exchange(const std::vector<Share>& shares);

}  // namespace titan::comm
