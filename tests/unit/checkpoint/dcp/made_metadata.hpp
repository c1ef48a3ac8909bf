#pragma once

#include "core/checkpoint/dcp/metadata.hpp"

namespace titan::checkpoint::testing {

/// Metadata of two files: a matrix in two chunks, a scalar, a tensor without elements, and a counter.
inline DcpMetadata made_metadata() {
  DcpMetadata metadata;
  metadata.files = {"__0_0.distcp", "__1_0.distcp"};
  metadata.tensors["layers.0.w"] = {
      DType::bf16, {3, 4}, {{{{0, 0}, {2, 4}}, {0, 0, 1300}}, {{{2, 0}, {1, 4}}, {1, 0, 1290}}}};
  metadata.tensors["optimizer.state.layers.0.w.step"] = {DType::f32, {}, {{{{}, {}}, {0, 1300, 1280}}}};
  metadata.tensors["empty"] = {DType::i64, {0, 7}, {}};
  metadata.objects["train_state.step"] = {1, 1290, 1100};
  return metadata;
}

}  // namespace titan::checkpoint::testing
