#pragma once

#include "core/comm/processes/process_transport.hpp"

namespace titan::comm {

/// libtorch's gloo. Collectives run one after the other on a thread of their channel, so that their times are known.
/// Reduce-scatters sum in order of rank; sums of bfloat16 and float16 are accumulated in float32 and rounded once.
c10::intrusive_ptr<ProcessBackend> make_gloo_backend(const BackendParts& parts);

}  // namespace titan::comm
