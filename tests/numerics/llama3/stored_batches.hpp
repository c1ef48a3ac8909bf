#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "core/train/batch_source.hpp"

namespace titan::testing {

/// Micro-batches from tensors [steps, rows, length] int64, at positions 0, 1, ... of each row.
class StoredBatches final : public train::BatchSource {
 public:
  StoredBatches(at::Tensor tokens, at::Tensor labels);
  std::optional<data::Batch> next() override;
  void rewind() override { next_ = 0; }
  std::string state() const override { return std::to_string(next_); }
  void load_state(const std::string& state) override { next_ = std::stoll(state); }

 private:
  at::Tensor tokens_, labels_;
  std::int64_t next_ = 0;
};

}  // namespace titan::testing
