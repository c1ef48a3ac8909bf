#pragma once

#include "titan/abi/tensor.h"

namespace titan::tensor {

/// The titan.tensor/1 table. A titan_tensor is a counted at::TensorImpl*.
const titan_tensor_v1* tensor_interface();

}  // namespace titan::tensor
