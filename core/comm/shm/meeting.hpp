#pragma once

#include <memory>
#include <string>

#include "core/comm/processes/process_transport.hpp"
#include "core/comm/shm/segment.hpp"

namespace titan::comm::shm {

/// What the ranks of a channel agree on: all have the segment, or none has.
struct Agreement {
  std::shared_ptr<Segment> segment;
  std::string problem;  // why there is none: "rank 2: it is another machine or container"
};

/// Finds out through the channel's store whether its ranks can share memory: the first one offers a segment, the others
/// open it, and the first one says whether all could. All ranks get the same answer. c10's errors when the store does
/// not answer, or a rank does not come.
Agreement meet(const BackendParts& parts);

/// Says to ranks that ask for shared memory that this one was told not to.
void decline(const BackendParts& parts);

}  // namespace titan::comm::shm
