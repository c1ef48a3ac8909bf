#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "core/comm/threads/thread_backend.hpp"

namespace titan::comm {
namespace {

class ThreadTransport : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadHub> hub, std::int64_t rank) : hub_(std::move(hub)), rank_(rank) {
    hub_->join(rank_);
  }
  ~ThreadTransport() override {
    for (; num_holds_ > 0; --num_holds_) hub_->hold(false);
    hub_->leave(rank_);
  }

  c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts& facts, std::chrono::milliseconds) override {
    return c10::make_intrusive<ThreadBackend>(hub_, facts, &announced_);
  }
  void announce(const WorkRecord& record) override { announced_ = &record; }
  Finding explain_timeout(const WorkRecord& record) override { return hub_->missing(record, rank_); }
  Finding explain_failure(const WorkRecord&, const std::string& text) override { return {{}, concat(": ", text)}; }
  void hold(bool on) override {
    num_holds_ += on ? 1 : -1;
    hub_->hold(on);
  }
  std::chrono::steady_clock::time_point held_until() override { return hub_->held_until(); }
  void abort(std::string_view reason) noexcept override { hub_->abort(concat("rank ", rank_, " failed: ", reason)); }

 private:
  std::shared_ptr<ThreadHub> hub_;
  std::int64_t rank_;
  std::int64_t num_holds_ = 0;
  const WorkRecord* announced_ = nullptr;
};

}  // namespace

class ThreadWorld::Impl : public ThreadHub {};

ThreadWorld::ThreadWorld(config::Mesh mesh) : mesh_(std::move(mesh)), impl_(std::make_shared<Impl>()) {}

ThreadWorld::~ThreadWorld() = default;

std::unique_ptr<Communicator> ThreadWorld::join(std::int64_t rank) {
  return std::make_unique<Communicator>(mesh_, rank, std::make_shared<ThreadTransport>(impl_, rank));
}

void ThreadWorld::abort(std::string_view reason) noexcept { impl_->abort(std::string(reason)); }

}  // namespace titan::comm
