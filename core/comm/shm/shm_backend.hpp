#pragma once

#include <memory>

#include "core/comm/processes/process_transport.hpp"
#include "core/comm/shm/segment.hpp"

namespace titan::comm {

/// Ranks of one machine, over memory that they share. All reductions are in order of rank, with the bits of rank
/// threads: bfloat16 and float16 are accumulated in float32 and rounded once.
c10::intrusive_ptr<ProcessBackend> make_shm_backend(const BackendParts& parts, std::shared_ptr<shm::Segment> segment);

}  // namespace titan::comm
