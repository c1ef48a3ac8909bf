#include "core/comm/processes/watch.hpp"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/process_identity.hpp"
#include "core/base/text.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLookEvery = std::chrono::milliseconds(300);
constexpr auto kLookEveryPerRank = std::chrono::milliseconds(1);
constexpr std::chrono::milliseconds kLongestGap = std::chrono::seconds(5);
constexpr auto kEndTime = std::chrono::seconds(1);
// Each is some requests to a store that many ranks ask at once.
constexpr std::ptrdiff_t kRanksOfAPiece = 128;
constexpr const char* kFailureKey = "failure";
constexpr const char* kNumLeftKey = "num_left";
constexpr const char* kAlarmKey = "alarm";
constexpr const char* kAlarmReasonKey = "alarm_reason";
constexpr const char* kNumHoldsKey = "num_holds";
constexpr const char* kReleased = "released";

std::string leave_key(std::int64_t number) { return concat("leave/", number); }
std::string hold_key(std::int64_t number) { return concat("hold/", number); }
std::string beat_key(std::int64_t number) { return concat("hold_beat/", number); }

/// Calls back. What goes wrong there is not the store's.
template <class Call>
void call_back(const char* what, const Call& call) {
  try {
    call();
  } catch (const std::exception&) {
    log_warning("comm", "what another rank has to be told or has told fails here: ", what, ": ", error_text());
  }
}

/// Another rank's text, whose lines stay lines.
std::string safe_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) line = printable(line);
  return join(lines, "\n");
}

/// Somebody who suspends all deadlines.
struct Hold {
  explicit Hold(std::int64_t number_) : number(number_) {}

  std::int64_t number;
  std::string identity, who;  // of the process, and "rank 1"; empty: not begun
  std::int64_t num_beats = -1;
  Clock::time_point looked{};          // last, at a process that this one cannot see
  std::chrono::nanoseconds silence{};  // since its last sign of life
  bool is_over = false, is_silent = false;
};

/// Why a rank tells the others something.
struct Notice {
  std::int32_t cause = 0;  // TITAN_DUMP_*
  std::string text;
};

std::string encode(std::int32_t cause, const std::string& text) { return concat(cause, '\n', text); }

Notice decode(const std::string& posted) {
  Notice notice;
  std::from_chars(posted.data(), posted.data() + posted.size(), notice.cause);
  notice.text = safe_lines(posted.substr(std::min(posted.size(), posted.find('\n') + 1)));
  return notice;
}

}  // namespace

/// Shared with the thread, which may outlive the watch when the store never answers.
struct Watch::State {
  struct Request {
    std::function<void(c10d::Store&)> run;
    bool done = false;
  };

  c10::intrusive_ptr<c10d::Store> store;
  std::int64_t rank = 0;
  std::chrono::milliseconds period{};
  Callbacks callbacks;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Request>> requests;
  std::string problem;
  bool ends = false, ended = false;
  bool told_failure = false;
  std::int64_t last_alarm = 0;
  std::int64_t num_told = 0;  // whose leaving was told
  std::int64_t num_holds = 0;
  std::chrono::milliseconds holder_silence{};
  std::vector<Hold> holds;  // not ended, or not begun
  // As last seen: until then deadlines are held, whatever becomes of the store.
  Clock::time_point holds_count_until = Clock::time_point::min();
  Clock::time_point held_until{};
  std::string silent_holder;

  void run() {
    std::unique_lock lock(mutex);
    while (!ends && problem.empty()) {
      std::deque<std::shared_ptr<Request>> now;
      now.swap(requests);
      lock.unlock();
      const std::string lost = serve(now);
      lock.lock();
      problem = lost;
      for (const auto& request : now) request->done = problem.empty();
      changed.notify_all();
      if (problem.empty()) changed.wait_for(lock, period, [&] { return ends || !requests.empty(); });
    }
    ended = true;
    changed.notify_all();
  }

  /// Does what there is to do; gives the store's error.
  std::string serve(const std::deque<std::shared_ptr<Request>>& now) {
    try {
      for (const auto& request : now) request->run(*store);
      look_for_failure();
      look_for_leaving();
      look_for_holds();
      answer_alarm();
      return {};
    } catch (const std::exception&) {
      return error_text();
    }
  }

  void look_for_failure() {
    if (told_failure || !store->check({kFailureKey})) return;
    told_failure = true;
    const Notice notice = decode(store->get_to_str(kFailureKey));
    call_back("a failure", [&] { callbacks.failed(notice.cause, notice.text); });
    store->add(kFailureReadKey, 1);
  }

  void look_for_leaving() {
    const std::int64_t now = num_left(*store);
    // The number is counted up before the text is there.
    while (num_told < now && store->check({leave_key(num_told + 1)})) {
      const std::string text = store->get_to_str(leave_key(++num_told));
      std::int64_t leaver = 0;
      std::from_chars(text.data(), text.data() + text.size(), leaver);
      if (leaver == rank) continue;
      call_back("a leaving", [&] { callbacks.left(leaver, text.substr(std::min(text.size(), text.find('\n') + 1))); });
    }
  }

  void look_for_holds() {
    const std::int64_t now = store->add(kNumHoldsKey, 0);
    while (num_holds < now) holds.emplace_back(++num_holds);
    Clock::time_point count_until = Clock::time_point::min();
    std::string silent;
    for (Hold& hold : holds) {
      count_until = std::max(count_until, counts_until(hold));
      if (hold.is_silent) silent = hold.who;
    }
    std::erase_if(holds, [](const Hold& hold) { return hold.is_over; });
    const std::lock_guard lock(mutex);
    if (std::max(holds_count_until, count_until) > Clock::now()) held_until = Clock::now();
    holds_count_until = count_until;
    silent_holder = silent;
  }

  /// Until when a hold counts if there is no further news of it.
  Clock::time_point counts_until(Hold& hold) {
    // The number is counted up before the text is there: a hold begins with the text, which may never come.
    if (!store->check({hold_key(hold.number)})) return Clock::time_point::min();
    const std::vector<std::string> text = split(store->get_to_str(hold_key(hold.number)), '\n');
    hold.identity = text.front();
    hold.who = text.size() > 1 ? printable(text[1]) : "a rank";
    hold.is_over = hold.identity == kReleased || has_process_ended(hold.identity);
    if (hold.is_over) return Clock::time_point::min();
    if (!is_of_this_machine(hold.identity)) return listen_to(hold);
    store->add(beat_key(hold.number), 1);
    return Clock::time_point::max();
  }

  /// As counts_until(), of a process that only those beside it can see.
  Clock::time_point listen_to(Hold& hold) const {
    const std::int64_t num_beats = store->add(beat_key(hold.number), 0);
    const Clock::time_point now = Clock::now();
    // A stall of this process is no silence of the other.
    hold.silence += std::min<Clock::duration>(now - std::exchange(hold.looked, now), std::max(kLongestGap, 2 * period));
    if (std::exchange(hold.num_beats, num_beats) != num_beats) hold.silence = {};
    const bool was_silent = std::exchange(hold.is_silent, hold.silence >= holder_silence);
    if (hold.is_silent && !was_silent) {
      log_warning("comm", hold.who, ", on another machine, holds the deadlines of all ranks and has given no sign of ",
                  "life for ", seconds_text(holder_silence.count() * 1'000'000), ": they count again");
    }
    return hold.is_silent ? Clock::time_point::min() : now + (holder_silence - hold.silence);
  }

  void answer_alarm() {
    const std::int64_t alarm = store->add(kAlarmKey, 0);
    if (alarm == last_alarm) return;
    last_alarm = alarm;
    std::string answer;
    call_back("an answer", [&] { answer = callbacks.answer(); });
    store->set(answer_key(rank), concat(alarm, '\n', answer));
    const Notice notice = decode(store->get_to_str(kAlarmReasonKey));
    call_back("an alarm", [&] { callbacks.alarmed(notice.cause, notice.text); });
  }
};

Watch::Watch(c10::intrusive_ptr<c10d::Store> store, std::int64_t rank, std::int64_t num_ranks, Callbacks callbacks,
             std::chrono::milliseconds holder_silence)
    : state_(std::make_shared<State>()) {
  state_->store = std::move(store);
  state_->rank = rank;
  state_->period = kLookEvery + kLookEveryPerRank * num_ranks;
  state_->callbacks = std::move(callbacks);
  state_->holder_silence = holder_silence;
  std::thread([state = state_] { state->run(); }).detach();
}

Watch::~Watch() {
  std::unique_lock lock(state_->mutex);
  state_->ends = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kEndTime, [&] { return state_->ended; });
}

bool Watch::ask(std::function<void(c10d::Store&)> request, std::chrono::milliseconds limit) {
  auto asked = std::make_shared<State::Request>();
  asked->run = std::move(request);
  std::unique_lock lock(state_->mutex);
  if (state_->ended) return false;
  state_->requests.push_back(asked);
  state_->changed.notify_all();
  state_->changed.wait_for(lock, limit, [&] { return asked->done || state_->ended; });
  return asked->done;
}

bool Watch::ask_each(const std::vector<std::int64_t>& ranks,
                     const std::function<void(c10d::Store& store, std::int64_t rank)>& request,
                     std::chrono::milliseconds limit) {
  for (auto begin = ranks.begin(); begin != ranks.end();) {
    const auto end = begin + std::min(kRanksOfAPiece, ranks.end() - begin);
    const std::vector<std::int64_t> piece(begin, end);
    const auto run = [request, piece](c10d::Store& store) {
      for (const std::int64_t rank : piece) request(store, rank);
    };
    if (!ask(run, limit)) return false;
    begin = end;
  }
  return true;
}

void Watch::look(std::chrono::milliseconds limit) {
  // Every round of the watch looks; a request makes it begin one.
  ask([](c10d::Store&) {}, limit);
}

std::chrono::milliseconds Watch::look_period() const { return state_->period; }

std::chrono::steady_clock::time_point Watch::held_until() const {
  const std::lock_guard lock(state_->mutex);
  // A holder that serves the store may be stopped, in a debugger.
  const Clock::time_point now = Clock::now();
  return state_->problem.empty() && state_->holds_count_until > now ? now : state_->held_until;
}

std::string Watch::silent_holder() const {
  const std::lock_guard lock(state_->mutex);
  return state_->silent_holder;
}

std::string Watch::store_problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem;
}

void post_failure(c10d::Store& store, std::int32_t cause, const std::string& text) {
  store.compareSet(kFailureKey, "", encode(cause, text));
}

void post_leave(c10d::Store& store, std::int64_t rank, const std::string& history) {
  store.set(left_key(rank), std::string("1"));
  store.set(leave_key(store.add(kNumLeftKey, 1)), concat(rank, '\n', history));
}

std::int64_t num_left(c10d::Store& store) { return store.add(kNumLeftKey, 0); }

std::int64_t raise_alarm(c10d::Store& store, std::int32_t cause, const std::string& reason) {
  store.set(kAlarmReasonKey, encode(cause, reason));
  return store.add(kAlarmKey, 1);
}

std::int64_t post_hold(c10d::Store& store, std::int64_t rank) {
  const std::int64_t number = store.add(kNumHoldsKey, 1);
  store.set(hold_key(number), concat(process_identity(), "\nrank ", rank));
  return number;
}

void end_hold(c10d::Store& store, std::int64_t number) { store.set(hold_key(number), std::string(kReleased)); }

std::string answer_key(std::int64_t rank) { return concat("answer/", rank); }
std::string left_key(std::int64_t rank) { return concat("left/", rank); }

}  // namespace titan::comm
