#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "core/comm/threads/thread_hub.hpp"

namespace titan::comm {

/// One rank's backend for ranks that are not there: every other rank is taken to hand over what this one does, so that
/// agreements come out as among equals. Tensors of the meta device have nothing to exchange. Sends and receives of
/// tensors with values go through the hub: the ranks that are there tell each other the shapes that follow.
class FakeBackend : public c10d::Backend {
 public:
  /// `announced` points to the record of the call that is being started.
  /// `copies_parts`: see FakeWorld.
  FakeBackend(std::shared_ptr<ThreadHub> hub, ChannelFacts facts, const WorkRecord* const* announced,
              bool copies_parts);

  const std::string getBackendName() const override { return "fake"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& out, at::Tensor& in,
                                                 const c10d::AllgatherOptions& options) override;
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                                                      const c10d::ReduceScatterOptions& options) override;
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_rows,
                                               std::vector<int64_t>& in_rows,
                                               const c10d::AllToAllOptions& options) override;
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override;
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int peer, int tag) override;
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int peer, int tag) override;
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions& options) override;

 private:
  std::shared_ptr<ThreadHub> hub_;
  ChannelFacts facts_;
  const WorkRecord* const* announced_;
  bool copies_parts_;
};

}  // namespace titan::comm
