#include "core/comm/fake/fake_backend.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>

#include <algorithm>

#include "core/comm/reduction.hpp"
#include "core/tensor/values.hpp"

namespace titan::comm {
namespace {

/// Has memory until somebody waits for it.
class CopyingWork : public TimedWork {
 public:
  explicit CopyingWork(std::vector<at::Tensor> copies) : copies_(std::move(copies)) {}
  bool join(Clock::time_point deadline) override {
    copies_.clear();
    return TimedWork::join(deadline);
  }

 private:
  std::vector<at::Tensor> copies_;
};

c10::intrusive_ptr<TimedWork> done() {
  auto work = c10::make_intrusive<TimedWork>();
  work->begin();
  work->complete();
  return work;
}

}  // namespace

FakeBackend::FakeBackend(std::shared_ptr<ThreadHub> hub, ChannelFacts facts, const WorkRecord* const* announced,
                         bool copies_parts)
    : Backend(static_cast<int>(facts.position), static_cast<int>(facts.members.size())),
      hub_(std::move(hub)),
      facts_(std::move(facts)),
      announced_(announced),
      copies_parts_(copies_parts) {}

c10::intrusive_ptr<c10d::Work> FakeBackend::allreduce(std::vector<at::Tensor>& tensors,
                                                      const c10d::AllreduceOptions& options) {
  const at::Tensor& tensor = tensors.at(0);
  if (tensor::has_values(tensor) && reduce_of(options.reduceOp) == Reduce::sum) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    tensor.mul_(static_cast<std::int64_t>(facts_.members.size()));
  }
  return done();
}

c10::intrusive_ptr<c10d::Work> FakeBackend::_allgather_base(at::Tensor& out, at::Tensor& in,
                                                            const c10d::AllgatherOptions&) {
  if (tensor::has_values(out)) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    std::vector<std::int64_t> parts = in.sizes().vec();
    parts.insert(parts.begin(), static_cast<std::int64_t>(facts_.members.size()));
    out.view(parts).copy_(in.unsqueeze(0));
  }
  return done();
}

c10::intrusive_ptr<c10d::Work> FakeBackend::_reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                                                                 const c10d::ReduceScatterOptions& options) {
  if (tensor::has_values(out)) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    out.copy_(in.narrow(0, facts_.position * out.size(0), out.size(0)));
    if (reduce_of(options.reduceOp) == Reduce::sum) out.mul_(static_cast<std::int64_t>(facts_.members.size()));
  } else if (copies_parts_) {
    RECORD_USER_SCOPE("communication::reduce_scatter");
    auto work = c10::make_intrusive<CopyingWork>(std::vector{at::empty_like(in), at::empty_like(out)});
    work->begin();
    work->complete();
    return work;
  }
  return done();
}

c10::intrusive_ptr<c10d::Work> FakeBackend::alltoall_base(at::Tensor& out, at::Tensor& in,
                                                          std::vector<int64_t>& out_rows, std::vector<int64_t>& in_rows,
                                                          const c10d::AllToAllOptions&) {
  if (tensor::has_values(out)) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    // Each rank sends this one what it would send itself, as far as it is asked for.
    const auto mine = static_cast<std::size_t>(facts_.position);
    std::int64_t first = 0, row = 0;
    for (std::size_t i = 0; i < mine; ++i) first += in_rows[i];
    out.zero_();
    for (const std::int64_t count : out_rows) {
      const std::int64_t known = std::min(count, in_rows[mine]);
      out.narrow(0, row, known).copy_(in.narrow(0, first, known));
      row += count;
    }
  }
  return done();
}

c10::intrusive_ptr<c10d::Work> FakeBackend::broadcast(std::vector<at::Tensor>&, const c10d::BroadcastOptions&) {
  return done();
}

c10::intrusive_ptr<c10d::Work> FakeBackend::send(std::vector<at::Tensor>& tensors, int peer, int tag) {
  if (!tensor::has_values(tensors.at(0))) return done();
  return hub_->send(facts_, **announced_, tensors.at(0), peer, tag);
}

c10::intrusive_ptr<c10d::Work> FakeBackend::recv(std::vector<at::Tensor>& tensors, int peer, int tag) {
  if (!tensor::has_values(tensors.at(0))) return done();
  return hub_->receive(facts_, **announced_, tensors.at(0), peer, tag);
}

c10::intrusive_ptr<c10d::Work> FakeBackend::barrier(const c10d::BarrierOptions&) { return done(); }

}  // namespace titan::comm
