#pragma once

#include "core/comm/processes/process_transport.hpp"

namespace titan::comm {

/// Ranks with a device each: `device` carries tensors of the device in the order of its stream, `host` the others and
/// barriers. Waiting for a work of the device orders the stream behind it and returns at once; a thread looks when it
/// is done, and whether that is in time.
c10::intrusive_ptr<ProcessBackend> make_device_backend(c10::intrusive_ptr<c10d::Backend> device,
                                                       c10::intrusive_ptr<ProcessBackend> host,
                                                       std::shared_ptr<PendingWorks> works);

/// NCCL for the tensors of GPU number `device`, gloo for those of the host.
c10::intrusive_ptr<ProcessBackend> make_nccl_backend(const BackendParts& parts, int device);

}  // namespace titan::comm
