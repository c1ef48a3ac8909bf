#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "titan/sdk/guard.hpp"

namespace titan::observability {

/// XXH3 of a tensor's bytes; 0 of one without any.
std::uint64_t hash_of(const at::Tensor& tensor);

/// What a pass left on a rank, as hashes with names: its loss, the gradients that are there, buffers, random state.
struct Signature {
  struct Entry {
    std::string name;  // "gradient of layers.0.attention.wq.weight"
    std::uint64_t hash;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
};

Signature sign(const sdk::GuardHandles& handles, double loss_sum);

/// Names of what differs, or is in one of the two alone.
std::vector<std::string> differences(const Signature& a, const Signature& b);

}  // namespace titan::observability
