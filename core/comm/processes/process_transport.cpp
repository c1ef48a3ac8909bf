#include "core/comm/processes/process_transport.hpp"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include <algorithm>
#include <future>
#include <numeric>
#include <thread>

#include "core/base/error.hpp"
#include "core/comm/description.hpp"
#include "core/comm/processes/inquiry.hpp"
#include "titan/abi/observer.h"

namespace titan::comm {
namespace {

constexpr auto kPollDelay = std::chrono::milliseconds(20);
// Many ranks ask one store.
constexpr auto kPollDelayPerRank = std::chrono::milliseconds(1);
constexpr auto kStoreTime = std::chrono::milliseconds(1500);
constexpr auto kNoTime = std::chrono::milliseconds(0);
// How long the store outlives a failure of the rank that serves it, beside the time until the others look for it.
constexpr auto kFarewellTime = std::chrono::milliseconds(1200);
// How long a rank that is done waits for the others to be done: its connections may still carry what they need.
constexpr auto kLeaveTime = std::chrono::seconds(10);
// A backend ends its own attempts at the timeout, and knows best why they failed.
constexpr auto kConnectSlack = std::chrono::seconds(5);
constexpr std::size_t kLongestReason = 4096;

std::vector<std::int64_t> without(std::vector<std::int64_t> ranks, std::int64_t rank) {
  ranks.erase(std::remove(ranks.begin(), ranks.end(), rank), ranks.end());
  return ranks;
}

/// Makes a backend on a thread of its own: while the peers are waited for, one of them may fail.
std::future<c10::intrusive_ptr<ProcessBackend>> start_on_thread(const MakeBackend& make, const BackendParts& parts) {
  const auto promise = std::make_shared<std::promise<c10::intrusive_ptr<ProcessBackend>>>();
  auto made = promise->get_future();
  std::thread([promise, make, parts] {
    try {
      promise->set_value(make(parts));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }).detach();
  return made;
}

/// Says which group this rank opens.
class OpenScope {
 public:
  OpenScope(SelfPortrait& self, const ChannelFacts& facts) : self_(self) {
    self_.set_opens(concat("the other ranks of a group: ", named_ranks(facts.members), ", channel ", facts.name));
  }
  ~OpenScope() { self_.set_opens({}); }
  OpenScope(const OpenScope&) = delete;
  OpenScope& operator=(const OpenScope&) = delete;

 private:
  SelfPortrait& self_;
};

/// A hold that the store is asked for.
struct HoldRequest {
  explicit HoldRequest(std::int64_t rank_) : rank(rank_) {}

  std::int64_t rank;
  std::atomic<std::int64_t> number{0};
  std::atomic<bool> is_given_up{false};

  void post(c10d::Store& store) {
    number = post_hold(store, rank);
    if (is_given_up) end(store);
  }
  void end(c10d::Store& store) const { end_hold(store, number); }
};

/// Fails the works under way for another rank's failure, after this rank has written down what it knows. The watch has
/// to answer others meanwhile.
void give_up_for(std::int32_t cause, const std::string& failure, const std::shared_ptr<PendingWorks>& works,
                 const std::shared_ptr<SelfPortrait>& self) {
  try {
    std::thread([works, self, cause, failure] {
      self->report_last(cause, failure);
      works->fail(failure);
    }).detach();
  } catch (const std::exception&) {
    works->fail(failure);
  }
}

std::string open_key(const std::string& channel, std::int64_t rank) { return concat("open/", channel, '/', rank); }

}  // namespace

ProcessTransport::ProcessTransport(StoreLink link, std::int64_t rank, std::int64_t world_size, MakeBackend make_backend,
                                   std::chrono::milliseconds holder_silence)
    : link_(std::move(link)),
      rank_(rank),
      world_size_(world_size),
      make_backend_(std::move(make_backend)),
      works_(std::make_shared<PendingWorks>(rank)),
      self_(std::make_shared<SelfPortrait>(rank)),
      quotes_(std::make_shared<std::atomic<bool>>(false)) {
  const auto failed = [works = works_, quotes = quotes_, self = self_](std::int32_t cause, const std::string& text) {
    if (!works->fail_later_ones(text)) return;
    *quotes = true;
    self->claim(cause);
    give_up_for(cause, text, works, self);
  };
  const auto left = [works = works_](std::int64_t leaver, const std::string& history) {
    works->leave(leaver, CallHistory::decode(history));
  };
  const auto answer = [self = self_] { return self->answer().encode(); };
  const auto alarmed = [self = self_](std::int32_t cause, const std::string& reason) {
    if (!self->is_alarmed()) self->post(cause, reason);
  };
  watch_ = std::make_unique<Watch>(link_.store->clone(), rank, world_size,
                                   Watch::Callbacks{failed, left, answer, alarmed}, holder_silence);
  works_->on_late([this](const WorkRecord& record) { return give_up_late(record); });
}

ProcessTransport::~ProcessTransport() {
  works_->on_late(nullptr);
  if (works_->any()) abort("the rank left with calls under way");
  while (num_holds_ > 0) hold(false);
  if (!aborted_ && works_->failure().empty()) leave();
}

void ProcessTransport::leave() {
  const Clock::time_point begin = Clock::now();
  const auto all_left = std::make_shared<std::atomic<bool>>(false);
  bool answers = watch_->ask([rank = rank_, history = self_->calls().history().encode(true)](
                                 c10d::Store& store) { post_leave(store, rank, history); },
                             kStoreTime);
  while (answers && !*all_left && works_->failure().empty() && !is_late(begin, kLeaveTime)) {
    answers = watch_->ask(
        [all_left, count = world_size_](c10d::Store& store) {
          if (num_left(store) < count) return;
          *all_left = true;
          store.add("left_seen", 1);
        },
        kStoreTime);
    if (!*all_left) std::this_thread::sleep_for(kPollDelay + kPollDelayPerRank * world_size_);
  }
  // The store ends with this process: the others are told first.
  const auto seen = std::make_shared<std::atomic<std::int64_t>>(0);
  while (link_.serves && *all_left && answers && *seen < world_size_ && !is_late(begin, kLeaveTime)) {
    answers = watch_->ask([seen](c10d::Store& store) { *seen = store.add("left_seen", 0); }, kStoreTime);
    if (*seen < world_size_) std::this_thread::sleep_for(kPollDelay);
  }
}

void ProcessTransport::introduce(std::shared_ptr<WitnessStand> stand) { self_->introduce(std::move(stand)); }

void ProcessTransport::waits_for(const WorkRecord* record) { self_->set_waits(record); }

void ProcessTransport::recover() { self_->set_alarmed(false); }

void ProcessTransport::hold(bool on) {
  num_holds_ += on ? 1 : -1;
  // Of a hold inside another only the outer one is seen by the others.
  if (num_holds_ != (on ? 1 : 0)) return;
  if (!on) {
    watch_->ask([number = hold_number_](c10d::Store& store) { end_hold(store, number); }, kStoreTime);
    return;
  }
  const auto request = std::make_shared<HoldRequest>(rank_);
  const bool answers = watch_->ask([request](c10d::Store& store) { request->post(store); }, kStoreTime);
  hold_number_ = request->number;
  if (answers) return;
  --num_holds_;
  // The store may do it later than anybody waits for it.
  request->is_given_up = true;
  if (request->number != 0) watch_->ask([request](c10d::Store& store) { request->end(store); }, kNoTime);
  throw PeerError("[comm] the other ranks cannot be told to wait: the ranks' store does not answer, ", link_.keeper,
                  " serves it");
}

ProcessTransport::Clock::time_point ProcessTransport::held_until() {
  watch_->look(kStoreTime);
  return watch_->held_until();
}

bool ProcessTransport::is_late(Clock::time_point begin, std::chrono::milliseconds limit) {
  return Clock::now() >= begin + limit && Clock::now() >= held_until() + limit;
}

c10::intrusive_ptr<c10d::Backend> ProcessTransport::open(const ChannelFacts& facts, std::chrono::milliseconds timeout) {
  const OpenScope scope(*self_, facts);
  await_members(facts, timeout);
  auto store = c10::make_intrusive<c10d::PrefixStore>(concat("channel/", facts.name), link_.store);
  const auto backend = connect({store, facts, timeout, link_.local_address, works_});
  const std::lock_guard lock(mutex_);
  backends_.push_back(backend);
  return backend;
}

c10::intrusive_ptr<ProcessBackend> ProcessTransport::connect(const BackendParts& parts) {
  std::future<c10::intrusive_ptr<ProcessBackend>> made = start_on_thread(make_backend_, parts);
  const Clock::time_point begin = Clock::now();
  std::future_status status = std::future_status::timeout;
  while (status != std::future_status::ready && works_->failure().empty() &&
         !is_late(begin, parts.timeout + kConnectSlack)) {
    status = made.wait_for(kPollDelay);
  }
  std::string problem = "the connections do not come about";
  try {
    if (status == std::future_status::ready) return made.get();
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception&) {
    if (is_out_of_memory()) throw;
    problem = error_text();
  }
  // A rank that fails says why before it breaks its connections.
  if (works_->failure().empty()) watch_->look(kStoreTime);
  const std::string known = works_->failure();
  throw PeerError("[comm] cannot connect the ranks of a group: ", named_ranks(parts.facts.members), ", channel ",
                  parts.facts.name, ": ", known.empty() ? printable(problem) : known);
}

void ProcessTransport::await_members(const ChannelFacts& facts, std::chrono::milliseconds timeout) {
  const std::string count = concat("num_open/", facts.name);
  const auto size = static_cast<std::int64_t>(facts.members.size());
  const Clock::time_point begin = Clock::now();
  const auto num_there = std::make_shared<std::atomic<std::int64_t>>(0);
  bool answers = watch_->ask(
      [count, mine = open_key(facts.name, rank_)](c10d::Store& store) {
        store.set(mine, "1");
        store.add(count, 1);
      },
      kStoreTime);
  while (answers && works_->failure().empty()) {
    answers = watch_->ask([count, num_there](c10d::Store& store) { *num_there = store.add(count, 0); }, kStoreTime);
    if (answers && *num_there >= size) return;
    if (is_late(begin, timeout)) {
      const auto missing = missing_members(facts);
      if (!missing) break;
      // The last ones may have come meanwhile.
      if (missing->empty()) return;
      fail_unmet(facts, *missing, timeout);
    }
    std::this_thread::sleep_for(kPollDelay + kPollDelayPerRank * size);
  }
  const std::string known = works_->failure();
  throw PeerError("[comm] cannot open a group: ", named_ranks(facts.members), ", channel ", facts.name, ": ",
                  known.empty() ? concat("the ranks' store does not answer, ", link_.keeper, " serves it") : known);
}

void ProcessTransport::fail_unmet(const ChannelFacts& facts, const std::vector<std::int64_t>& missing,
                                  std::chrono::milliseconds timeout) {
  const std::string text = concat("[comm] not all ranks have asked for a group in time: missing ", named_ranks(missing),
                                  ": ", named_ranks(facts.members), ", channel ", facts.name, ", limit ",
                                  seconds_text(timeout.count() * 1'000'000));
  self_->report(TITAN_DUMP_TIMEOUT, text);
  const Testimony testimony = ask_everybody(without(facts.members, rank_), TITAN_DUMP_TIMEOUT, text);
  throw PeerError(text, testimony.store_problem.empty() ? whereabouts(missing, testimony) : std::string(),
                  holder_note());
}

std::optional<std::vector<std::int64_t>> ProcessTransport::missing_members(const ChannelFacts& facts) {
  // Shared with a request that may run later than anybody waits for it.
  const auto missing = std::make_shared<std::vector<std::int64_t>>();
  const bool answers = watch_->ask_each(
      facts.members,
      [missing, name = facts.name](c10d::Store& store, std::int64_t rank) {
        if (!store.check({open_key(name, rank)})) missing->push_back(rank);
      },
      kStoreTime);
  return answers ? std::optional(std::move(*missing)) : std::nullopt;
}

void ProcessTransport::announce(const WorkRecord& record) {
  self_->calls().note(record);
  works_->announce(record);
}

Testimony ProcessTransport::ask_everybody(const std::vector<std::int64_t>& members, std::int32_t cause,
                                          const std::string& reason) {
  std::vector<std::int64_t> everybody(static_cast<std::size_t>(world_size_));
  std::iota(everybody.begin(), everybody.end(), 0);
  self_->set_alarmed(true);
  const Inquiry inquiry{cause, concat("rank ", rank_, ": ", reason), members, without(std::move(everybody), rank_)};
  Testimony testimony = question(*watch_, inquiry, [this] { return quotes_->load(); });
  num_silent_ = static_cast<std::int64_t>(testimony.asked.size() - testimony.answers.size());
  return testimony;
}

Finding ProcessTransport::inquire(const WorkRecord& record, std::int32_t cause, const std::string& reason) {
  const Testimony testimony = ask_everybody(without(record.members, rank_), cause, reason);
  if (quotes_->load()) return {{}, concat(": ", works_->failure())};
  if (!testimony.store_problem.empty()) {
    return {concat("missing ", link_.keeper),
            concat("\n  ", link_.keeper,
                   " serves the ranks' store, which does not answer: stopped, dead or "
                   "cut off: ",
                   printable(testimony.store_problem), holder_note())};
  }
  Finding found = verdict(record, rank_, self_->calls().history(), testimony, works_->first_undone(record));
  found.more += holder_note();
  return found;
}

std::string ProcessTransport::holder_note() const {
  const std::string who = watch_->silent_holder();
  if (who.empty()) return {};
  return concat("\n  ", who,
                " held the deadlines of all ranks, at a breakpoint, and gives no sign of life: its machine is "
                "gone, or cut off");
}

ProcessTransport::Clock::time_point ProcessTransport::give_up_late(const WorkRecord& record) {
  const auto deadline = held_until() + std::chrono::milliseconds(record.timeout_ms);
  if (deadline > Clock::now()) return deadline;
  const std::string what =
      concat(describe(record), ", elapsed ", seconds_text(monotonic_nanoseconds() - record.created), ", limit ",
             seconds_text(record.timeout_ms * 1'000'000));
  self_->report(TITAN_DUMP_TIMEOUT, concat("[comm] a call was not done in time: ", what));
  const Finding found = inquire(record, TITAN_DUMP_TIMEOUT, concat("a call was not done in time: ", what));
  const std::string missing = found.missing.empty() ? std::string() : concat(found.missing, ", ");
  abort(concat("[comm] a call was not done in time: ", missing, what, found.more));
  return deadline;
}

Finding ProcessTransport::explain_timeout(const WorkRecord& record) {
  return inquire(record, TITAN_DUMP_TIMEOUT, concat("a call was not done in time: ", describe(record)));
}

Finding ProcessTransport::explain_failure(const WorkRecord& record, const std::string& text) {
  const std::string known = works_->failure();
  if (!known.empty()) return {{}, concat(": ", known)};
  if (works_->explains(text)) return {{}, concat(": ", text)};
  // A rank that fails says why before it breaks its connections.
  watch_->look(kStoreTime);
  if (quotes_->load()) return {{}, concat(": ", works_->failure())};
  Finding found = inquire(record, TITAN_DUMP_ERROR, concat("a connection was lost: ", describe(record)));
  if (quotes_->load()) return found;
  found.missing = found.missing.empty() ? "a connection was lost" : concat("a connection was lost, ", found.missing);
  found.more += concat("\n  the connection said: ", printable(text));
  return found;
}

void ProcessTransport::abort(std::string_view reason) noexcept {
  if (aborted_.exchange(true)) return;
  try {
    const bool first = works_->fail(concat("this rank has failed before: ", reason));
    if (first) post_failure(concat("rank ", rank_, " failed: ", shortened(reason, kLongestReason)));
    if (link_.serves) await_readers();
    std::vector<c10::intrusive_ptr<ProcessBackend>> backends;
    {
      const std::lock_guard lock(mutex_);
      backends = backends_;
    }
    // Closing may wait for the device's thread; nobody waits for it.
    std::thread([backends = std::move(backends)] {
      for (const auto& backend : backends) backend->close();
    }).detach();
  } catch (...) {
    // Nothing is left to be done: the process ends.
  }
}

void ProcessTransport::post_failure(const std::string& text) {
  watch_->ask([cause = self_->cause(), text](c10d::Store& store) { comm::post_failure(store, cause, text); },
              kStoreTime);
}

void ProcessTransport::await_readers() {
  const Clock::time_point end = Clock::now() + kFarewellTime + watch_->look_period();
  const auto readers = std::make_shared<std::atomic<std::int64_t>>(0);
  while (*readers < world_size_ - num_silent_ && Clock::now() < end) {
    if (!watch_->ask([readers](c10d::Store& store) { *readers = store.add(kFailureReadKey, 0); }, kStoreTime)) return;
    std::this_thread::sleep_for(kPollDelay);
  }
}

}  // namespace titan::comm
