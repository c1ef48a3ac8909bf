#include "core/comm/fake/fake_world.hpp"

#include "core/base/error.hpp"
#include "core/comm/fake/fake_backend.hpp"

namespace titan::comm {
namespace {

class FakeTransport : public Transport {
 public:
  FakeTransport(std::shared_ptr<ThreadHub> hub, std::int64_t rank, bool copies_parts, CallListener listener)
      : hub_(std::move(hub)), rank_(rank), copies_parts_(copies_parts), listener_(std::move(listener)) {
    hub_->join(rank_);
  }
  ~FakeTransport() override { hub_->leave(rank_); }

  bool moves_data() const override { return false; }
  c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts& facts, std::chrono::milliseconds) override {
    return c10::make_intrusive<FakeBackend>(hub_, facts, &announced_, copies_parts_);
  }
  void announce(const WorkRecord& record) override {
    announced_ = &record;
    listener_.started(record);
  }
  void waits_for(const WorkRecord* record) override {
    if (record != nullptr) listener_.waited(*record);
  }
  Finding explain_timeout(const WorkRecord& record) override { return hub_->missing(record, rank_); }
  Finding explain_failure(const WorkRecord&, const std::string& text) override { return {{}, concat(": ", text)}; }
  void hold(bool) override {}
  std::chrono::steady_clock::time_point held_until() override { return {}; }
  void abort(std::string_view reason) noexcept override { hub_->abort(concat("rank ", rank_, " failed: ", reason)); }

 private:
  std::shared_ptr<ThreadHub> hub_;
  std::int64_t rank_;
  bool copies_parts_;
  CallListener listener_;
  const WorkRecord* announced_ = nullptr;
};

}  // namespace

class FakeWorld::Impl : public ThreadHub {};

FakeWorld::FakeWorld(config::Mesh mesh, bool copies_parts)
    : mesh_(std::move(mesh)), copies_parts_(copies_parts), impl_(std::make_shared<Impl>()) {}

FakeWorld::~FakeWorld() = default;

std::unique_ptr<Communicator> FakeWorld::join(std::int64_t rank, CallListener listener) {
  return std::make_unique<Communicator>(
      mesh_, rank, std::make_shared<FakeTransport>(impl_, rank, copies_parts_, std::move(listener)));
}

void FakeWorld::abort(std::string_view reason) noexcept { impl_->abort(std::string(reason)); }

}  // namespace titan::comm
