#include "core/launch/launcher.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/stop_signals.hpp"
#include "core/launch/child_process.hpp"
#include "core/launch/descriptor_limit.hpp"
#include "core/launch/rank_output.hpp"
#include "core/launch/signal_inbox.hpp"
#include "core/launch/store_socket.hpp"
#include "core/launch/supervision.hpp"
#include "core/launch/terminal.hpp"
#include "core/launch/verdict_file.hpp"

namespace titan::launch {
namespace {

constexpr double kConsolePatienceSeconds = 2;
// News wakes the loop; this is for a change that made none.
constexpr double kLongestSleepSeconds = 1;
constexpr std::string_view kPrefix = "[launch]:";

/// A rank of this node.
struct LocalRank {
  RankEnd end;
  ReportFiles report;
  LastLines last_lines;
  std::unique_ptr<RankStream> output;
  std::unique_ptr<RankStream> errors;
  std::unique_ptr<ChildProcess> process;
  pid_t pid = 0;
  bool is_stopped = false;
};

std::string random_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string id;
  for (int i = 0; i < 16; ++i) id += kDigits[random() % kDigits.size()];
  return id;
}

class Launcher {
 public:
  explicit Launcher(const Job& job)
      : job_(job),
        options_(job.options),
        output_(job.console_output, wants_color(job.console_output)),
        errors_(job.console_errors, wants_color(job.console_errors)),
        terminal_(job.console_errors),
        supervision_(static_cast<std::size_t>(options_.num_local_ranks), options_.grace_seconds) {
    if (options_.run_id.empty()) options_.run_id = random_id();
  }

  JobEnd run(const StopFlag& stop) {
    open_files();
    StoreSocket store;
    store.port = options_.meeting_point.port;
    if (options_.node_rank == 0) store = listen_at(options_.meeting_point, options_.num_nodes > 1);
    stop.check();
    start_ranks(store);
    store.socket = FileDescriptor();
    while (!supervision_.all_ended()) turn();
    return finish();
  }

 private:
  void open_files();
  void open_streams(LocalRank& rank);
  void start_ranks(const StoreSocket& store);
  void check_inbox();
  void start(LocalRank& rank, std::int64_t local_rank, const StoreSocket& store);

  void turn();
  void wait_for_news();
  void yield_terminal();
  void read_streams();
  void write_consoles();
  void take_signals();
  void pass_on_dump();
  void look_after_children();
  void follow(std::size_t place, const ChildChange& change);
  void rank_ended(std::size_t place, const ChildChange& change);
  void carry_out_orders();

  JobEnd finish();
  void show_last_lines(const LocalRank& rank);
  std::string final_message(const JobVerdict& verdict) const;
  /// Its first line: who failed, or who agreed to stop.
  static std::string headline(const std::vector<RankEnd>& ends, const JobVerdict& verdict);
  void leave_verdict(const JobEnd& end);
  /// What a rank wrote, a line each.
  static std::string words_of(const RankEnd& end);
  /// Which dumps there are, and what to do with them.
  std::string dumps_text() const;
  template <class... Parts>
  void say(const Parts&... parts) {
    errors_.add_urgent_line(kPrefix, concat(parts...));
  }

  const Job& job_;
  LaunchOptions options_;
  DescriptorLimit descriptor_limit_;
  SignalInbox inbox_;
  Console output_;
  Console errors_;
  Terminal terminal_;
  Supervision supervision_;
  std::vector<std::unique_ptr<LocalRank>> ranks_;
  int stop_signal_ = 0;
  double stop_moment_ = 0;
  bool has_failure_ = false;
  bool was_quit_ = false;
  bool told_of_output_ = false;
  std::filesystem::file_time_type begin_ = std::filesystem::file_time_type::clock::now();
};

/// A folder that the user named may be a link; what the run's own folder holds may not lead out of it.
void refuse_link(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(folder, ignored)) return;
  throw TrustError("[launch] folder is a symbolic link: ", printable(folder.native()));
}

/// What an earlier run said must not be taken for this one's.
void remove_earlier(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw CreateError("[launch] cannot replace ", printable(path.native()), ": ", error.message());
}

void Launcher::open_files() {
  if (!options_.log_folder) refuse_link(job_.log_folder);
  refuse_link(job_.report_folder);
  create_folder(job_.log_folder);
  create_folder(job_.report_folder);
  remove_earlier(verdict_file(job_.report_folder, options_.node_rank));
  for (std::int64_t local = 0; local < options_.num_local_ranks; ++local) {
    auto rank = std::make_unique<LocalRank>();
    rank->end.rank = options_.rank(local);
    const std::string name = concat("rank_", rank->end.rank);
    rank->report = {job_.report_folder / (name + ".json"), job_.report_folder / (name + ".done")};
    for (const auto& path : {rank->report.error, rank->report.done}) remove_earlier(path);
    open_streams(*rank);
    ranks_.push_back(std::move(rank));
  }
}

void Launcher::open_streams(LocalRank& rank) {
  const bool shown = is_shown(options_, rank.end.rank);
  const std::string prefix = concat("[", options_.role, rank.end.rank, "]:");
  const auto open = [&](const StreamUse& use, std::string_view stream, Console& console) {
    const std::string name = concat("rank_", rank.end.rank, ".", stream, ".log");
    return std::make_unique<RankStream>(use.to_file ? job_.log_folder / name : std::filesystem::path(), prefix,
                                        use.to_console && shown ? &console : nullptr, rank.last_lines);
  };
  rank.output = open(options_.standard_output, "stdout", output_);
  rank.errors = open(options_.standard_error, "stderr", errors_);
}

void Launcher::start_ranks(const StoreSocket& store) {
  for (std::size_t place = 0; place < ranks_.size(); ++place) {
    check_inbox();
    start(*ranks_[place], static_cast<std::int64_t>(place), store);
  }
}

/// No turn takes signals yet, and the ranks that there are have not begun.
void Launcher::check_inbox() {
  for (const int signal : inbox_.take()) {
    if (signal != SIGCHLD && signal != kDumpSignal) throw Interrupted(signal);
  }
}

void Launcher::start(LocalRank& rank, std::int64_t local_rank, const StoreSocket& store) {
  const bool shown = is_shown(options_, rank.end.rank);
  const RankDescriptors descriptors{.store_socket = rank.end.rank == 0 ? store.socket.get() : -1,
                                    .input = shown ? terminal_.input() : -1,
                                    .notices = shown ? -1 : terminal_.notices()};
  ChildProgram child{.program = job_.program, .arguments = job_.arguments, .variables = {}, .inherited = {}};
  child.descriptor_limit = descriptor_limit_.before();
  child.variables = rank_variables(own_variables(), options_, local_rank, store.port, descriptors, rank.report);
  for (const int inherited : {descriptors.store_socket, descriptors.input, descriptors.notices}) {
    if (inherited >= 0) child.inherited.push_back(inherited);
  }
  rank.process = std::make_unique<ChildProcess>(child);
  rank.pid = rank.process->pid();
  rank.output->attach(std::move(rank.process->standard_output()));
  rank.errors->attach(std::move(rank.process->standard_error()));
}

void Launcher::turn() {
  wait_for_news();
  yield_terminal();
  read_streams();
  write_consoles();
  take_signals();
  look_after_children();
  carry_out_orders();
}

void Launcher::wait_for_news() {
  std::vector<pollfd> places{{inbox_.descriptor(), POLLIN, 0}};
  for (const auto& rank : ranks_) {
    for (const RankStream* stream : {rank->output.get(), rank->errors.get()}) {
      if (stream->descriptor() >= 0) places.push_back({stream->descriptor(), POLLIN, 0});
    }
  }
  for (const Console* console : {&output_, &errors_}) {
    if (console->is_waiting()) places.push_back({console->descriptor(), POLLOUT, 0});
  }
  const double rest = supervision_.next_deadline() - monotonic_seconds();
  const double seconds = std::clamp(rest, 0.0, kLongestSleepSeconds);
  ::poll(places.data(), places.size(), static_cast<int>(std::ceil(seconds * 1e3)));
}

/// What is shown now would stand in the middle of what somebody types at a rank's prompt.
void Launcher::yield_terminal() {
  const pid_t foreground = terminal_.foreground();
  const auto has_it = [foreground](const auto& rank) { return rank->pid == foreground; };
  const bool is_lent = foreground > 0 && std::ranges::any_of(ranks_, has_it);
  output_.hold(is_lent);
  errors_.hold(is_lent);
}

void Launcher::read_streams() {
  for (const auto& rank : ranks_) {
    for (RankStream* stream : {rank->output.get(), rank->errors.get()}) {
      stream->read_some();
      if (const std::string problem = stream->take_problem(); !problem.empty()) say(problem);
    }
  }
}

void Launcher::write_consoles() {
  output_.write_some();
  errors_.write_some();
  if (output_.failure() == 0 || std::exchange(told_of_output_, true)) return;
  say("standard output failed: ", std::generic_category().message(output_.failure()),
      "; what the ranks write there is in the files alone");
}

void Launcher::take_signals() {
  for (const int signal : inbox_.take()) {
    const double now = monotonic_seconds();
    if (signal == kDumpSignal) pass_on_dump();
    if (signal == kDumpSignal || signal == SIGCHLD ||
        (signal == stop_signal_ && now < stop_moment_ + kOneRequestSeconds))
      continue;
    say(stop_signal_ == 0 ? "passing on SIG" : "a second signal, ending all ranks now: SIG", ::sigabbrev_np(signal));
    if (stop_signal_ == 0) stop_moment_ = now;
    if (stop_signal_ == 0) stop_signal_ = signal;
    supervision_.stop_requested(signal, now);
  }
}

void Launcher::pass_on_dump() {
  say("passing on SIG", ::sigabbrev_np(kDumpSignal), ": each rank says where it is, and writes its calls down");
  for (std::size_t place = 0; place < ranks_.size(); ++place) supervision_.tell(place, kDumpSignal);
}

void Launcher::look_after_children() {
  for (std::size_t place = 0; place < ranks_.size(); ++place) {
    while (const auto change = ranks_[place]->process->poll_change()) follow(place, *change);
  }
}

void Launcher::follow(std::size_t place, const ChildChange& change) {
  LocalRank& rank = *ranks_[place];
  switch (change.kind) {
    case ChildChange::Kind::stopped:
      rank.is_stopped = true;
      say("rank ", rank.end.rank, " was stopped by SIG", ::sigabbrev_np(change.signal), "; its peers will miss it");
      return supervision_.rank_stopped(place);
    case ChildChange::Kind::continued:
      rank.is_stopped = false;
      say("rank ", rank.end.rank, " goes on");
      return supervision_.rank_continued(place);
    case ChildChange::Kind::ended:
      return rank_ended(place, change);
  }
}

void Launcher::rank_ended(std::size_t place, const ChildChange& change) {
  LocalRank& rank = *ranks_[place];
  rank.end.status = change.status;
  rank.end.signal = change.signal;
  rank.end.moment = monotonic_seconds();
  rank.end.has_token = has_done_token(rank.report.done, rank.pid);
  rank.end.error = read_rank_error(rank.report.error);
  if (rank.end.error && rank.end.error->pid != rank.pid) rank.end.error.reset();
  rank.end.is_status_lost = change.is_status_lost;
  if (change.is_status_lost && rank.end.error) rank.end.status = rank.end.error->code;
  const bool failed = status_of(rank.end) != 0;
  const bool is_quit = rank.end.error && rank.end.error->is_quit;
  if (terminal_.foreground() == rank.pid) terminal_.take_back();
  was_quit_ = was_quit_ || is_quit;
  is_quit ? supervision_.rank_quit(place, rank.end.moment) : supervision_.rank_ended(place, failed, rank.end.moment);
  if (!failed || std::exchange(has_failure_, true) || stop_signal_ != 0) return;
  say("rank ", rank.end.rank, " ", describe(rank.end));
  if (supervision_.all_ended()) return;
  say("the other ranks have ", is_quit ? Supervision::kQuitSeconds : options_.grace_seconds,
      " s to leave by themselves");
}

void Launcher::carry_out_orders() {
  for (const Order& order : supervision_.take_orders(monotonic_seconds())) {
    LocalRank& rank = *ranks_[order.rank];
    const bool is_an_end = order.signal != SIGCONT && order.signal != kDumpSignal;
    if (is_an_end) rank.end.launchers_signal = order.signal;
    if (is_an_end && terminal_.foreground() == rank.pid) {
      say("the prompt of rank ", rank.end.rank, " ends now: ",
          stop_signal_ != 0 ? "the run was asked to stop" : "another rank of the run has ended, it cannot go on");
    }
    if (order.signal == SIGKILL) {
      rank.end.was_stopped = rank.is_stopped;
      say("killing rank ", rank.end.rank,
          rank.is_stopped ? ", which is stopped"
          : was_quit_     ? std::string(", which did not leave after the quit, nor after SIGTERM")
                          : concat(", which did not leave in ", options_.grace_seconds,
                                   " s: a save may need more, its log tells "
                                       "(--grace-seconds)"));
    }
    rank.process->signal(order.signal);
  }
}

JobEnd Launcher::finish() {
  std::vector<RankEnd> ends;
  for (const auto& rank : ranks_) {
    rank->process->kill_group();
    rank->output->finish();
    rank->errors->finish();
    ends.push_back(rank->end);
  }
  JobEnd end{judge(ends, stop_signal_), {}};
  if (end.verdict.culprit) {
    if (!end.verdict.is_quit) show_last_lines(*ranks_[*end.verdict.culprit]);
    end.message = final_message(end.verdict);
    leave_verdict(end);
  }
  output_.flush(kConsolePatienceSeconds);
  errors_.flush(kConsolePatienceSeconds);
  return end;
}

/// For who looks into the run's folder later, such as titan report: of a rank that was killed nobody else knows.
void Launcher::leave_verdict(const JobEnd& end) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  try {
    write_job_words(verdict_file(job_.report_folder, options_.node_rank),
                    {.status = end.verdict.status,
                     .rank = ranks_[*end.verdict.culprit]->end.rank,
                     .message = end.message,
                     .time = now,
                     .is_quit = end.verdict.is_quit});
  } catch (const Error& error) {
    say("what follows is not in the run's folder: ", error.what());
  }
}

void Launcher::show_last_lines(const LocalRank& rank) {
  if (!rank.last_lines.lines().empty()) say("the last lines of rank ", rank.end.rank, ":");
  const std::string prefix = concat("[", options_.role, rank.end.rank, "]:");
  for (const std::string& line : rank.last_lines.lines()) errors_.add_line(prefix, line);
}

std::string Launcher::words_of(const RankEnd& end) {
  std::string text;
  for (const std::string& line : split(end.error->message, '\n')) {
    text += concat("\n[launch] rank ", end.rank, " says: ", line);
  }
  return text;
}

/// What an earlier run left there does not count.
std::string Launcher::dumps_text() const {
  std::error_code ignored;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator file(job_.traces_folder, ignored), end; file != end;
       file.increment(ignored)) {
    if (ignored) break;
    const bool is_new = file->is_regular_file(ignored) && file->last_write_time(ignored) >= begin_;
    if (is_new && !file->path().filename().native().starts_with('.')) ++count;
  }
  if (count == 0) return {};
  const std::string folder = printable(job_.traces_folder.native());
  return concat("\n[launch] ", count, count == 1 ? " rank has written down its" : " ranks have written down their",
                " last calls; to compare them: titan trace analyse ", folder);
}

std::string Launcher::headline(const std::vector<RankEnd>& ends, const JobVerdict& verdict) {
  const RankEnd& first = ends[*verdict.culprit];
  if (verdict.is_quit) {
    return concat("[launch] the run was ended by hand: rank ", first.rank, ' ', describe(first),
                  "; that is no failure");
  }
  const std::string phase = first.error ? concat(" (", first.error->phase, ")") : std::string();
  const std::vector<std::int64_t> agreeing = find_agreeing(ends, *verdict.culprit);
  if (agreeing.empty()) return concat("[launch] rank ", first.rank, " failed first: it ", describe(first), phase);
  return concat("[launch] ranks ", number_runs(agreeing), " stopped together, for one reason: each ", describe(first),
                phase);
}

std::string Launcher::final_message(const JobVerdict& verdict) const {
  std::vector<RankEnd> ends;
  for (const auto& rank : ranks_) ends.push_back(rank->end);
  const RankEnd& first = ends[*verdict.culprit];
  std::string text = headline(ends, verdict);
  if (first.error) text += words_of(first);
  if (const auto witness = find_witness(ends, *verdict.culprit)) text += words_of(ends[*witness]);
  const std::string others = describe_others(ends, *verdict.culprit);
  if (!others.empty()) text += concat("\n[launch] also: ", others);
  if (is_of_calls(ends, *verdict.culprit)) text += dumps_text();
  return text + concat("\n[launch] output of all ranks: ", printable(job_.log_folder.native()));
}

}  // namespace

JobEnd run_job(const Job& job, const StopFlag& stop) { return Launcher(job).run(stop); }

}  // namespace titan::launch
