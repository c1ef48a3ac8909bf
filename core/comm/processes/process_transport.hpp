#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "core/comm/processes/pending_works.hpp"
#include "core/comm/processes/self_portrait.hpp"
#include "core/comm/processes/store.hpp"
#include "core/comm/processes/testimony.hpp"
#include "core/comm/processes/watch.hpp"
#include "core/comm/transport.hpp"

namespace titan::comm {

/// A backend between processes.
class ProcessBackend : public c10d::Backend {
 public:
  using Backend::Backend;
  /// [any thread] Breaks the connections, so that calls under way end with an error here and on the peers.
  virtual void close() noexcept = 0;
};

/// What a backend is made of.
struct BackendParts {
  c10::intrusive_ptr<c10d::Store> store;  // keys of this channel alone
  ChannelFacts facts;
  std::chrono::milliseconds timeout;    // for joining the channel
  std::string local_address;            // where connections listen
  std::shared_ptr<PendingWorks> works;  // makes its works
};
/// Called on a thread of its own, which may outlive the transport.
using MakeBackend = std::function<c10::intrusive_ptr<ProcessBackend>(const BackendParts& parts)>;

/// Ranks that are processes and share a store.
class ProcessTransport : public Transport {
 public:
  ProcessTransport(StoreLink link, std::int64_t rank, std::int64_t world_size, MakeBackend make_backend,
                   std::chrono::milliseconds holder_silence = kHolderSilence);
  /// Leaves the run: after all ranks have, or some seconds.
  ~ProcessTransport() override;

  c10::intrusive_ptr<c10d::Backend> open(const ChannelFacts& facts, std::chrono::milliseconds timeout) override;
  void announce(const WorkRecord& record) override;
  void introduce(std::shared_ptr<WitnessStand> stand) override;
  void waits_for(const WorkRecord* record) override;
  Finding explain_timeout(const WorkRecord& record) override;
  Finding explain_failure(const WorkRecord& record, const std::string& text) override;
  void recover() override;
  void hold(bool on) override;
  std::chrono::steady_clock::time_point held_until() override;
  void abort(std::string_view reason) noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  void await_members(const ChannelFacts& facts, std::chrono::milliseconds timeout);
  [[noreturn]] void fail_unmet(const ChannelFacts& facts, const std::vector<std::int64_t>& missing,
                               std::chrono::milliseconds timeout);
  c10::intrusive_ptr<ProcessBackend> connect(const BackendParts& parts);
  /// Those that have not asked for the channel; nothing when the store does not answer.
  std::optional<std::vector<std::int64_t>> missing_members(const ChannelFacts& facts);
  /// Whether something has taken longer than the limit, the time in which deadlines were suspended left out.
  bool is_late(Clock::time_point begin, std::chrono::milliseconds limit);
  /// Raises an alarm and hears the others.
  Testimony ask_everybody(const std::vector<std::int64_t>& members, std::int32_t cause, const std::string& reason);
  /// A line on a rank that held all deadlines and has vanished; empty: there is none.
  std::string holder_note() const;
  Finding inquire(const WorkRecord& record, std::int32_t cause, const std::string& reason);
  /// [any thread] Ends the run for a call that a device has not done in time, or gives it more.
  Clock::time_point give_up_late(const WorkRecord& record);
  void post_failure(const std::string& text);
  /// Keeps the store for those that have not read why the run failed.
  void await_readers();
  void leave();

  StoreLink link_;
  std::int64_t rank_, world_size_;
  MakeBackend make_backend_;
  std::shared_ptr<PendingWorks> works_;
  std::shared_ptr<SelfPortrait> self_;
  std::shared_ptr<std::atomic<bool>> quotes_;  // another rank failed first
  std::int64_t num_holds_ = 0, hold_number_ = 0;
  std::atomic<bool> aborted_{false};
  std::atomic<std::int64_t> num_silent_{0};  // ranks that gave no answer when asked
  std::mutex mutex_;
  std::vector<c10::intrusive_ptr<ProcessBackend>> backends_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace titan::comm
