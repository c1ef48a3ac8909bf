#pragma once

#include "titan/abi/memory.h"

namespace titan::tensor {

/// The titan.memory/1 table.
const titan_memory_v1* memory_interface();

}  // namespace titan::tensor
