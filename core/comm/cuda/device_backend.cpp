#include "core/comm/cuda/device_backend.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <thread>

#include "core/comm/cuda/cuda_library.hpp"
#include "core/comm/cuda/late_watch.hpp"
#include "core/comm/gloo/gloo_backend.hpp"

namespace titan::comm {
namespace {

using InnerWork = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

class DeviceBackend : public ProcessBackend {
 public:
  DeviceBackend(c10::intrusive_ptr<c10d::Backend> device, c10::intrusive_ptr<ProcessBackend> host,
                std::shared_ptr<PendingWorks> works)
      : ProcessBackend(device->getRank(), device->getSize()),
        device_(std::move(device)),
        host_(std::move(host)),
        works_(std::move(works)),
        watch_([works = works_](const WorkRecord& record) { return works->tell_late(record); }) {}

  const std::string getBackendName() const override { return device_->getBackendName(); }

  void close() noexcept override {
    host_->close();
    try {
      // Breaking connections may wait for the driver; nobody waits for it, nor for the backend's own threads.
      std::thread([device = device_] {
        device->abort();
        for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
      }).detach();
    } catch (...) {
      // Without a thread the connections stay open until the process ends.
    }
  }

  InnerWork allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    if (tensors[0].is_cpu()) return host_->allreduce(tensors, options);
    return run([&] { return device_->allreduce(tensors, options); });
  }

  InnerWork _allgather_base(at::Tensor& out, at::Tensor& in, const c10d::AllgatherOptions& options) override {
    if (in.is_cpu()) return host_->_allgather_base(out, in, options);
    return run([&] { return device_->_allgather_base(out, in, options); });
  }

  InnerWork _reduce_scatter_base(at::Tensor& out, at::Tensor& in, const c10d::ReduceScatterOptions& options) override {
    if (in.is_cpu()) return host_->_reduce_scatter_base(out, in, options);
    return run([&] { return device_->_reduce_scatter_base(out, in, options); });
  }

  InnerWork alltoall_base(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_rows,
                          std::vector<int64_t>& in_rows, const c10d::AllToAllOptions& options) override {
    if (in.is_cpu()) return host_->alltoall_base(out, in, out_rows, in_rows, options);
    return run([&] { return device_->alltoall_base(out, in, out_rows, in_rows, options); });
  }

  InnerWork broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    if (tensors[0].is_cpu()) return host_->broadcast(tensors, options);
    return run([&] { return device_->broadcast(tensors, options); });
  }

  InnerWork send(Tensors& tensors, int peer, int tag) override {
    if (tensors[0].is_cpu()) return host_->send(tensors, peer, tag);
    return run([&] { return device_->send(tensors, peer, tag); });
  }

  InnerWork recv(Tensors& tensors, int peer, int tag) override {
    if (tensors[0].is_cpu()) return host_->recv(tensors, peer, tag);
    return run([&] { return device_->recv(tensors, peer, tag); });
  }

  InnerWork barrier(const c10d::BarrierOptions& options) override { return host_->barrier(options); }

 private:
  template <class Start>
  InnerWork run(Start&& start) {
    works_->check();
    auto work = c10::make_intrusive<DeviceWork>(start());
    works_->add(work);
    watch_.add(work, works_->announced());
    return work;
  }

  c10::intrusive_ptr<c10d::Backend> device_;
  c10::intrusive_ptr<ProcessBackend> host_;
  std::shared_ptr<PendingWorks> works_;
  LateWatch watch_;
};

}  // namespace

c10::intrusive_ptr<ProcessBackend> make_device_backend(c10::intrusive_ptr<c10d::Backend> device,
                                                       c10::intrusive_ptr<ProcessBackend> host,
                                                       std::shared_ptr<PendingWorks> works) {
  return c10::make_intrusive<DeviceBackend>(std::move(device), std::move(host), std::move(works));
}

c10::intrusive_ptr<ProcessBackend> make_nccl_backend(const BackendParts& parts, int device) {
  auto host = make_gloo_backend(parts);
  NcclParts nccl;
  nccl.store = c10::make_intrusive<c10d::PrefixStore>("nccl", parts.store);
  nccl.position = static_cast<int>(parts.facts.position);
  nccl.size = static_cast<int>(parts.facts.members.size());
  nccl.name = parts.facts.name;
  nccl.device = device;
  return make_device_backend(cuda_library().make_nccl(nccl), std::move(host), parts.works);
}

}  // namespace titan::comm
