#pragma once

#include "core/comm/communicator.hpp"
#include "core/comm/processes/process_transport.hpp"

namespace titan::comm {

/// Makes backends for tensors of the host: over shared memory where all ranks of a channel can have it, else over gloo,
/// or what is asked for. ConfigError, on all ranks: shared memory is asked for, and they cannot have it.
MakeBackend host_backend(CpuBackend choice);

}  // namespace titan::comm
