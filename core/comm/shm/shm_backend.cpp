#include "core/comm/shm/shm_backend.hpp"

#include "core/base/error.hpp"
#include "core/comm/reduction.hpp"
#include "core/comm/shm/endpoint.hpp"

namespace titan::comm {
namespace {

using Tensors = std::vector<at::Tensor>;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;

/// A work that is carried out by whoever waits for it.
class ShmWork : public TimedWork {
 public:
  explicit ShmWork(std::shared_ptr<shm::Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}
  bool join(Clock::time_point deadline) override { return endpoint_->await(*this, deadline); }
  bool wait(std::chrono::milliseconds timeout) override {
    const auto deadline = timeout == kNoTimeout ? Clock::time_point::max() : Clock::now() + timeout;
    if (!join(deadline)) throw PeerError("[comm] not done in time: ", timeout.count(), " ms");
    return TimedWork::wait(timeout);
  }

 private:
  std::shared_ptr<shm::Endpoint> endpoint_;
};

class ShmBackend : public ProcessBackend {
 public:
  ShmBackend(const BackendParts& parts, std::shared_ptr<shm::Segment> segment)
      : ProcessBackend(static_cast<int>(parts.facts.position), static_cast<int>(parts.facts.members.size())),
        endpoint_(std::make_shared<shm::Endpoint>(std::move(segment), static_cast<std::size_t>(parts.facts.position),
                                                  parts.facts.members)),
        works_(parts.works) {}
  ~ShmBackend() override { endpoint_->stop(); }

  const std::string getBackendName() const override { return "shm"; }
  void close() noexcept override { endpoint_->close(); }

  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return run(
        [&, op = reduce_of(options.reduceOp)](shm::Seat& seat) { return shm::all_reduce(seat, tensors[0], op); });
  }
  WorkPointer _allgather_base(at::Tensor& out, at::Tensor& in, const c10d::AllgatherOptions&) override {
    return run([&](shm::Seat& seat) { return shm::all_gather(seat, out, in); });
  }
  WorkPointer _reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                                   const c10d::ReduceScatterOptions& options) override {
    return run(
        [&, op = reduce_of(options.reduceOp)](shm::Seat& seat) { return shm::reduce_scatter(seat, out, in, op); });
  }
  WorkPointer alltoall_base(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_rows,
                            std::vector<int64_t>& in_rows, const c10d::AllToAllOptions&) override {
    return run([&](shm::Seat& seat) { return shm::all_to_all(seat, out, in, out_rows, in_rows); });
  }
  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    const auto root = static_cast<std::size_t>(options.rootRank);
    return run([&](shm::Seat& seat) { return shm::broadcast(seat, tensors[0], root); });
  }
  WorkPointer barrier(const c10d::BarrierOptions&) override {
    return run([](shm::Seat& seat) { return shm::barrier(seat); });
  }

  WorkPointer send(Tensors& tensors, int peer, int tag) override {
    const auto work = add_work();
    endpoint_->send(static_cast<std::size_t>(peer), {tensors[0], tag, work});
    return work;
  }
  WorkPointer recv(Tensors& tensors, int peer, int tag) override {
    const auto work = add_work();
    endpoint_->receive(static_cast<std::size_t>(peer), {tensors[0], tag, work});
    return work;
  }

 private:
  c10::intrusive_ptr<TimedWork> add_work() {
    c10::intrusive_ptr<TimedWork> work = c10::make_intrusive<ShmWork>(endpoint_);
    works_->add(work);
    return work;
  }
  WorkPointer run(const shm::Endpoint::Make& make) {
    const auto work = add_work();
    endpoint_->submit(work, make);
    return work;
  }

  std::shared_ptr<shm::Endpoint> endpoint_;
  std::shared_ptr<PendingWorks> works_;
};

}  // namespace

c10::intrusive_ptr<ProcessBackend> make_shm_backend(const BackendParts& parts, std::shared_ptr<shm::Segment> segment) {
  return c10::make_intrusive<ShmBackend>(parts, std::move(segment));
}

}  // namespace titan::comm
