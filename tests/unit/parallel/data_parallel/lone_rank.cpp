#include "tests/unit/parallel/data_parallel/lone_rank.hpp"

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "core/comm/timed_work.hpp"
#include "core/comm/transport.hpp"

namespace titan::parallel {
namespace {

c10::intrusive_ptr<c10d::Work> done() {
  auto work = c10::make_intrusive<comm::TimedWork>();
  work->complete();
  return work;
}

class LoneBackend : public c10d::Backend {
 public:
  explicit LoneBackend(const comm::ChannelFacts& facts)
      : Backend(static_cast<int>(facts.position), static_cast<int>(facts.members.size())) {}

  const std::string getBackendName() const override { return "lone"; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions&) override {
    tensors.at(0).mul_(getSize());
    return done();
  }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& out, at::Tensor& in,
                                                 const c10d::AllgatherOptions&) override {
    for (const at::Tensor& part : out.view({-1}).chunk(getSize())) part.copy_(in.view({-1}));
    return done();
  }
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& out, at::Tensor& in,
                                                      const c10d::ReduceScatterOptions&) override {
    out.view({-1}).copy_(in.view({-1}).chunk(getSize())[static_cast<std::size_t>(getRank())]).mul_(getSize());
    return done();
  }
};

class LoneTransport : public comm::Transport {
 public:
  c10::intrusive_ptr<c10d::Backend> open(const comm::ChannelFacts& facts, std::chrono::milliseconds) override {
    return c10::make_intrusive<LoneBackend>(facts);
  }
  void announce(const comm::WorkRecord&) override {}
  comm::Finding explain_timeout(const comm::WorkRecord&) override { return {}; }
  comm::Finding explain_failure(const comm::WorkRecord&, const std::string& text) override { return {{}, text}; }
  void hold(bool) override {}
  std::chrono::steady_clock::time_point held_until() override { return {}; }
  void abort(std::string_view) noexcept override {}
};

}  // namespace

std::unique_ptr<comm::Communicator> lone_rank(const config::Mesh& mesh) {
  return std::make_unique<comm::Communicator>(mesh, 0, std::make_shared<LoneTransport>());
}

}  // namespace titan::parallel
