#include "core/comm/gloo/gloo_backend.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_like.h>
#include <ATen/record_function.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "core/base/error.hpp"
#include "core/comm/description.hpp"
#include "core/comm/gloo/stray_errors.hpp"
#include "core/comm/processes/runner.hpp"
#include "core/comm/reduction.hpp"

namespace titan::comm {
namespace {

using c10d::ProcessGroupGloo;
using InnerWork = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

// Deadlines are ours, and of the monotonic clock; gloo's, of the other one, must stay out of the way.
constexpr auto kNoDeadline = std::chrono::hours(24 * 30);

/// Gloo's group, whose connections can be broken from another thread.
class BreakableGloo : public ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;
  void break_connections() {
    for (const auto& context : contexts_) context->closeConnections();
  }
};

std::shared_ptr<gloo::transport::Device> make_device(const std::string& address) {
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') return ProcessGroupGloo::createDeviceForInterface(interface);
  return ProcessGroupGloo::createDeviceForHostname(address);
}

c10::intrusive_ptr<BreakableGloo> connect_gloo(const BackendParts& parts) {
  const auto options = ProcessGroupGloo::Options::create(parts.timeout);
  options->devices.push_back(make_device(parts.local_address));
  options->threads = 1;
  options->group_name = parts.facts.name;
  auto group = c10::make_intrusive<BreakableGloo>(parts.store, static_cast<int>(parts.facts.position),
                                                  static_cast<int>(parts.facts.members.size()), options);
  group->setTimeout(kNoDeadline);
  return group;
}

bool is_summed_wide(const at::Tensor& tensor, const c10d::ReduceOp& op) {
  const at::ScalarType dtype = tensor.scalar_type();
  return op.op_ == c10d::ReduceOp::SUM && (dtype == at::kBFloat16 || dtype == at::kHalf);
}

/// Waits for gloo's work and ends ours the same way.
void finish(TimedWork& work, InnerWork&& inner) {
  try {
    inner->wait();
    // Whoever waits may look at the tensors' reference counts.
    inner.reset();
    work.complete();
  } catch (const std::exception&) {
    work.fail(std::current_exception());
  }
}

class GlooBackend : public ProcessBackend {
 public:
  explicit GlooBackend(const BackendParts& parts)
      : ProcessBackend(static_cast<int>(parts.facts.position), static_cast<int>(parts.facts.members.size())),
        inner_(connect_gloo(parts)),
        works_(parts.works),
        stray_errors_(parts.works) {}

  const std::string getBackendName() const override { return "gloo"; }

  void close() noexcept override {
    runner_.abandon();
    try {
      // Gloo's destructor waits for its threads, which may be stuck: the group lives as long as the process.
      std::thread([inner = inner_] {
        inner->break_connections();
        for (;;) std::this_thread::sleep_for(kNoDeadline);
      }).detach();
    } catch (...) {
      // Without a thread the connections stay open until the process ends.
    }
  }

  InnerWork allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return run([inner = inner_, tensors, options]() mutable -> InnerWork {
      if (!is_summed_wide(tensors[0], options.reduceOp)) return inner->allreduce(tensors, options);
      Tensors wide{tensors[0].to(at::kFloat)};
      inner->allreduce(wide, options)->wait();
      tensors[0].copy_(wide[0]);
      return nullptr;
    });
  }

  InnerWork _allgather_base(at::Tensor& out, at::Tensor& in, const c10d::AllgatherOptions& options) override {
    return run([inner = inner_, out, in, options]() mutable { return inner->_allgather_base(out, in, options); });
  }

  InnerWork _reduce_scatter_base(at::Tensor& out, at::Tensor& in, const c10d::ReduceScatterOptions& options) override {
    // Gloo's own reduces the whole input on every rank, in an order that depends on the position. This way half as much
    // is sent, and sums have the same bits as those of rank threads.
    return run([inner = inner_, out, in, op = reduce_of(options.reduceOp)]() mutable -> InnerWork {
      RECORD_USER_SCOPE("communication::reduce_scatter");
      at::Tensor parts = at::empty_like(in);
      std::vector<int64_t> even;
      inner->alltoall_base(parts, in, even, even)->wait();
      out.copy_(reduced(parts.chunk(inner->getSize()), op));
      return nullptr;
    });
  }

  InnerWork alltoall_base(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_rows,
                          std::vector<int64_t>& in_rows, const c10d::AllToAllOptions& options) override {
    return run([inner = inner_, out, in, out_rows, in_rows, options]() mutable {
      return inner->alltoall_base(out, in, out_rows, in_rows, options);
    });
  }

  InnerWork broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    return run([inner = inner_, tensors, options]() mutable { return inner->broadcast(tensors, options); });
  }

  InnerWork send(Tensors& tensors, int peer, int tag) override {
    // A work that cannot end any more is refused before anything is posted.
    auto work = works_->add();
    return watch_pair(std::move(work), inner_->send(tensors, peer, tag));
  }

  InnerWork recv(Tensors& tensors, int peer, int tag) override {
    auto work = works_->add();
    return watch_pair(std::move(work), inner_->recv(tensors, peer, tag));
  }

  InnerWork barrier(const c10d::BarrierOptions& options) override {
    return run([inner = inner_, options] { return inner->barrier(options); });
  }

 private:
  InnerWork run(std::function<InnerWork()> start) {
    const auto work = works_->add();
    runner_.submit([work, start = std::move(start)]() mutable {
      if (work->isCompleted()) return;
      work->begin();
      try {
        const at::AutoDispatchBelowADInplaceOrView below_autograd;
        InnerWork inner = start();
        if (inner) inner->wait();
        inner.reset();
        // Whoever waits may look at the tensors' reference counts.
        start = nullptr;
        work->complete();
      } catch (const std::exception&) {
        work->fail(std::current_exception());
      }
    });
    return work;
  }

  /// Sends and receives were posted by the caller, in its order; only their ends are awaited elsewhere, each on its
  /// own: they may come in any order.
  static InnerWork watch_pair(c10::intrusive_ptr<TimedWork> work, InnerWork inner) {
    work->begin();
    std::thread([work, inner = std::move(inner)]() mutable { finish(*work, std::move(inner)); }).detach();
    return work;
  }

  c10::intrusive_ptr<BreakableGloo> inner_;
  std::shared_ptr<PendingWorks> works_;
  StrayErrors stray_errors_;
  Runner runner_;
};

}  // namespace

c10::intrusive_ptr<ProcessBackend> make_gloo_backend(const BackendParts& parts) {
  return c10::make_intrusive<GlooBackend>(parts);
}

}  // namespace titan::comm
