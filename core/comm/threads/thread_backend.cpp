#include "core/comm/threads/thread_backend.hpp"

#include "core/comm/reduction.hpp"

namespace titan::comm {

ThreadBackend::ThreadBackend(std::shared_ptr<ThreadHub> hub, ChannelFacts facts, const WorkRecord* const* announced)
    : Backend(static_cast<int>(facts.position), static_cast<int>(facts.members.size())),
      hub_(std::move(hub)),
      facts_(std::move(facts)),
      announced_(announced) {}

c10::intrusive_ptr<c10d::Work> ThreadBackend::arrive(Share share) {
  return hub_->arrive(facts_, **announced_, std::move(share));
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::allreduce(std::vector<at::Tensor>& tensors,
                                                        const c10d::AllreduceOptions& options) {
  return arrive({.op = "all_reduce", .reduce = reduce_of(options.reduceOp), .out = tensors.at(0), .in = tensors.at(0)});
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::_allgather_base(at::Tensor& out, at::Tensor& in,
                                                              const c10d::AllgatherOptions&) {
  return arrive({.op = "_allgather_base", .out = out, .in = in});
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::_reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                                                                   const c10d::ReduceScatterOptions& options) {
  return arrive({.op = "_reduce_scatter_base", .reduce = reduce_of(options.reduceOp), .out = out, .in = in});
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::alltoall_base(at::Tensor& out, at::Tensor& in,
                                                            std::vector<int64_t>& out_rows,
                                                            std::vector<int64_t>& in_rows,
                                                            const c10d::AllToAllOptions&) {
  return arrive({.op = "alltoall_base", .out = out, .in = in, .out_rows = out_rows, .in_rows = in_rows});
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::broadcast(std::vector<at::Tensor>& tensors,
                                                        const c10d::BroadcastOptions& options) {
  return arrive({.op = "broadcast", .root = options.rootRank, .out = tensors.at(0), .in = tensors.at(0)});
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::send(std::vector<at::Tensor>& tensors, int peer, int tag) {
  return hub_->send(facts_, **announced_, tensors.at(0), peer, tag);
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::recv(std::vector<at::Tensor>& tensors, int peer, int tag) {
  return hub_->receive(facts_, **announced_, tensors.at(0), peer, tag);
}

c10::intrusive_ptr<c10d::Work> ThreadBackend::barrier(const c10d::BarrierOptions&) { return arrive({.op = "barrier"}); }

}  // namespace titan::comm
