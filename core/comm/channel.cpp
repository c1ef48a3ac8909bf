#include "core/comm/channel.hpp"

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/comm/communicator.hpp"
#include "core/comm/description.hpp"
#include "core/comm/work.hpp"
#include "titan/abi/observer.h"

namespace titan::comm {
namespace {

std::vector<std::int64_t> sizes_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.sizes().vec() : std::vector<std::int64_t>{};
}

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

void note(WorkRecord& record, WorkState state, std::int64_t when) {
  record.state = state;
  (state == WorkState::started ? record.started : record.completed) = when;
}

std::string with_comma(const std::string& text) { return text.empty() ? text : text + ", "; }

/// Says of which call this rank waits.
class WaitScope {
 public:
  WaitScope(Transport* transport, const WorkRecord& record) : transport_(transport) {
    if (transport_ != nullptr) transport_->waits_for(&record);
  }
  ~WaitScope() {
    if (transport_ != nullptr) transport_->waits_for(nullptr);
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  Transport* transport_;
};

}  // namespace

Channel::Channel(Communicator& owner, ChannelFacts facts)
    : owner_(&owner), facts_(std::move(facts)), records_(owner.records_) {
  if (size() > 1) backend_ = owner.transport_->open(facts_, owner.timeout_);
}

Channel::~Channel() = default;

Communicator& Channel::owner() const {
  TITAN_CHECK(owner_ != nullptr, "[comm] the communicator is gone: channel ", facts_.name);
  return *owner_;
}

std::string Channel::module() const {
  const Communicator& communicator = owner();
  if (!communicator.module_.empty() || !communicator.running_module) return communicator.module_;
  return communicator.running_module();
}

std::string Channel::exchange_module(std::string module) { return std::exchange(owner().module_, std::move(module)); }

std::uint64_t Channel::next_sequence(const Call& call) {
  return call.peer < 0 ? ++sequence_ : ++pair_sequences_[{call.op, call.peer}];
}

WorkRecord Channel::record_of(const std::string& group, const Call& call) {
  WorkRecord record;
  record.op = call.op;
  record.group = group;
  record.channel = facts_.name;
  record.module = module();
  record.sequence = next_sequence(call);
  record.is_p2p = call.peer >= 0;
  if (record.is_p2p) record.peer = facts_.members[static_cast<std::size_t>(call.peer)];
  record.members = facts_.members;
  record.input_sizes = sizes_of(call.in);
  record.output_sizes = sizes_of(call.out);
  if (call.in.defined() || call.out.defined()) {
    record.dtype = (call.in.defined() ? call.in : call.out).scalar_type();
  }
  record.input_bytes = bytes_of(call.in);
  record.output_bytes = bytes_of(call.out);
  record.created = monotonic_nanoseconds();
  record.created_epoch =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  record.timeout_ms = owner().timeout().count();
  return record;
}

WorkPtr Channel::start(const std::string& group, const Call& call, const Start& start,
                       const std::function<void()>& alone) {
  auto work = std::make_unique<Work::Impl>();
  work->channel = shared_from_this();
  work->record = record_of(group, call);
  work->tensors = {call.out, call.in};
  work->record.id = records_->add(work->record);
  try {
    if (start) {
      owner().transport_->announce(work->record);
      work->work = c10::dynamic_intrusive_pointer_cast<TimedWork>(start(*backend_));
      TITAN_CHECK(work->work != nullptr, "[comm] the backend's works have no times: ", backend_->getBackendName());
    } else {
      work->work = c10::make_intrusive<TimedWork>();
      work->work->begin();
      if (alone) alone();
      work->work->complete();
    }
  } catch (...) {
    if (is_out_of_memory()) fail_without_memory(work->record, error_text());
    fail(work->record, concat("[comm] a call failed: ", describe(work->record), ": ", error_text()));
  }
  work->work->watch([records = records_, id = work->record.id](WorkState state, std::int64_t when) {
    records->update(id, [&](WorkRecord& record) { note(record, state, when); });
  });
  return std::make_unique<Work>(std::move(work));
}

bool Channel::await(TimedWork& work, std::chrono::milliseconds limit) {
  Transport& transport = *owner().transport_;
  TimedWork::Clock::time_point deadline = TimedWork::Clock::now() + limit;
  while (!work.join(deadline)) {
    // Who was held has its whole time again.
    deadline = transport.held_until() + limit;
    if (deadline <= TimedWork::Clock::now()) return false;
  }
  return true;
}

bool Channel::await_or_fail(Work::Impl& pending) {
  WorkRecord& record = pending.record;
  Communicator& communicator = owner();
  // Others that ask while this rank finds out why are told of the call, too.
  const WaitScope scope(communicator.transport_.get(), record);
  std::string late;
  if (!await(*pending.work, communicator.timeout())) late = explain_late(record);
  const std::int64_t now = monotonic_nanoseconds();
  pending.work->watch(nullptr);
  // Whatever was found out meanwhile, the work may be done now.
  if (!pending.work->isCompleted()) fail(record, late);
  pending.work->watch([&](WorkState state, std::int64_t when) { note(record, state, when); });
  pending.work->watch(nullptr);
  if (const std::string failure = pending.work->failure(); !failure.empty()) {
    if (pending.work->is_out_of_memory()) fail_without_memory(record, failure);
    const std::string what = concat(describe(record), ", elapsed ", seconds_text(now - record.created));
    if (late.empty()) {
      // A rank that fails says why before it breaks its connections: this looks, and its cause is this rank's too.
      static_cast<void>(communicator.transport_->held_until());
      communicator.report_trouble(TITAN_DUMP_ERROR, concat("[comm] a call failed: ", what, ": ", failure));
    }
    const Finding found = communicator.transport_->explain_failure(record, failure);
    fail(record, concat("[comm] a call failed: ", with_comma(found.missing), what, found.more));
  }
  return !late.empty();
}

void Channel::wait(Work::Impl& pending) {
  WorkRecord& record = pending.record;
  Communicator& communicator = owner();
  record.timeout_ms = communicator.timeout().count();
  if (await_or_fail(pending)) {
    log_warning("comm", "a call was done after all, late: ", describe(record));
    communicator.recover();
  }
  record.retired = true;
  records_->update(record.id, [&](WorkRecord& stored) { stored = record; });
  if (records_->on_retired) records_->on_retired(record);
}

std::string Channel::explain_late(const WorkRecord& record) {
  const std::string what =
      concat(describe(record), ", elapsed ", seconds_text(monotonic_nanoseconds() - record.created), ", limit ",
             seconds_text(record.timeout_ms * 1'000'000));
  // Whatever the others say: this rank's own side is written down first.
  owner().report_trouble(TITAN_DUMP_TIMEOUT, concat("[comm] a call was not done in time: ", what));
  const Finding found = owner().transport_->explain_timeout(record);
  return concat("[comm] a call was not done in time: ", with_comma(found.missing), what, found.more);
}

void Channel::note_failure(const WorkRecord& record, const std::string& text) {
  WorkRecord failed = record;
  failed.state = WorkState::failed;
  failed.retired = true;
  if (failed.completed == 0) failed.completed = monotonic_nanoseconds();
  records_->update(record.id, [&](WorkRecord& stored) {
    if (failed.started == 0) failed.started = stored.started;
    stored = failed;
  });
  owner().abort(text);
  if (records_->on_retired) records_->on_retired(failed);
}

void Channel::fail(const WorkRecord& record, const std::string& text) {
  note_failure(record, text);
  throw PeerError(text);
}

void Channel::fail_without_memory(const WorkRecord& record, const std::string& text) {
  const std::string own = text.starts_with("[memory] ") ? text : concat("[comm] out of memory: ", text);
  const std::string whole = concat(own, "\n  for a call: ", describe(record));
  note_failure(record, whole);
  throw ResourceError(whole);
}

Work::Work(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Work::~Work() {
  if (impl_ != nullptr && impl_->work != nullptr) impl_->work->watch(nullptr);
}

void Work::wait() {
  TITAN_CHECK(impl_ != nullptr, "[comm] a work is waited for twice");
  const std::unique_ptr<Impl> pending = std::move(impl_);
  pending->channel->wait(*pending);
}

}  // namespace titan::comm
