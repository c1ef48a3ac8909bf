#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/comm/group.hpp"
#include "core/comm/records.hpp"
#include "core/comm/transport.hpp"

namespace c10d {
class Backend;
class Work;
}  // namespace c10d

namespace titan::comm {

class Communicator;
class TimedWork;

/// What a call hands over, for its record.
struct Call {
  const char* op = "";     // PyTorch's name
  at::Tensor out, in;      // undefined where there is none
  std::int64_t peer = -1;  // position, of sends and receives
};

/// One rank's end of the connection between a set of ranks: numbers and records its calls, and waits for them. Groups
/// of the same ranks share it.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using Start = std::function<c10::intrusive_ptr<c10d::Work>(c10d::Backend& backend)>;

  Channel(Communicator& owner, ChannelFacts facts);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const ChannelFacts& facts() const { return facts_; }
  std::int64_t size() const { return static_cast<std::int64_t>(facts_.members.size()); }

  /// Starts a call under the name of a group. `start` calls the backend, or is null where nothing has to be sent: then
  /// `alone` does what there is to do.
  WorkPtr start(const std::string& group, const Call& call, const Start& start, const std::function<void()>& alone);
  /// The module that calls are made for now.
  std::string module() const;
  /// Names the module of the calls that follow and gives the one so far.
  std::string exchange_module(std::string module);
  /// The communicator is gone: no calls any more.
  void disown() { owner_ = nullptr; }

 private:
  friend class Work;
  Communicator& owner() const;
  WorkRecord record_of(const std::string& group, const Call& call);
  std::uint64_t next_sequence(const Call& call);
  void wait(Work::Impl& work);
  /// False: the deadline passed, with what was added for the time in which deadlines were suspended.
  bool await(TimedWork& work, std::chrono::milliseconds limit);
  /// Waits, or fails the call. True: it was late.
  bool await_or_fail(Work::Impl& work);
  /// Says why a call was not done in time, after telling the witness.
  std::string explain_late(const WorkRecord& record);
  [[noreturn]] void fail(const WorkRecord& record, const std::string& text);
  /// Fails a call that this rank had no memory for: nobody else has to do with it.
  [[noreturn]] void fail_without_memory(const WorkRecord& record, const std::string& text);
  /// Writes a failed call down and gives the rank's calls up.
  void note_failure(const WorkRecord& record, const std::string& text);

  Communicator* owner_;
  ChannelFacts facts_;
  std::shared_ptr<Recorder> records_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  std::uint64_t sequence_ = 0;
  std::map<std::pair<std::string, std::int64_t>, std::uint64_t> pair_sequences_;
};

}  // namespace titan::comm
