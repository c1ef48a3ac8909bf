#pragma once

#include "core/config/mesh.hpp"
#include "titan/abi/strategy.h"

namespace titan::config {

/// A layout as strategies are told of it.
titan_mesh_facts mesh_facts(const Mesh& mesh);

}  // namespace titan::config
