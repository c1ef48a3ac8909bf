#pragma once

#include <memory>

#include "core/comm/communicator.hpp"

namespace titan::parallel {

/// Rank 0 of a layout whose other ranks do not exist: they seem to hold and send what this one does. For figures of one
/// rank that do not depend on values, such as memory.
std::unique_ptr<comm::Communicator> lone_rank(const config::Mesh& mesh);

}  // namespace titan::parallel
