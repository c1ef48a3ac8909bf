#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/parts.hpp"

namespace titan::benchmark {

/// The state of a run that trains a llama with 125 million parameters by AdamW, in float32 and made up: 1.5 GB.
class State {
 public:
  State();

  std::vector<checkpoint::HeldPart> held() const;
  std::vector<checkpoint::WantedPart> wanted();
  std::uint64_t size() const { return size_; }

 private:
  struct Tensor {
    checkpoint::TensorInfo info;
    std::vector<float> values;
  };
  void add_parameter(const std::string& name, const std::vector<std::int64_t>& shape);

  std::vector<Tensor> tensors_;
  std::uint64_t size_ = 0;
};

}  // namespace titan::benchmark
