#include "core/checkpoint/saver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/number.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/background_task.hpp"
#include "core/checkpoint/cancelable_calls.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/rank_verdict.hpp"

namespace titan::checkpoint {

namespace {

constexpr const char* kTag = "checkpoint";
constexpr double kSecondsBetweenNotes = 10;

/// A save under way.
struct Save {
  SaveRequest request;
  std::string id;
  std::filesystem::path temporary;
  Origin origin;  // on rank 0
  ShardLayout layout;
  ByteCount written = 0;
  ShardReport report;
  std::vector<ShardReport> reports;  // of all ranks, once they have written
  RankVerdict mine = {RankVerdict::Kind::working, {}, Exit::done};
  bool is_publishing = false;
  double begun = monotonic_seconds();
  double committed = 0;  // on rank 0
  double noted = begun;  // when the log last said how far it is
  double stall = 0;
};

/// How long to wait before the next look at a save that began so long ago: so that looking costs little, and the time
/// between the end and the next look is a small part of the whole.
std::chrono::milliseconds pause_after(double seconds) {
  constexpr double kShare = 0.02;
  constexpr std::chrono::milliseconds kShortest(1), kLongest(100);
  const std::chrono::milliseconds pause(static_cast<std::int64_t>(seconds * kShare * 1e3));
  return std::clamp(pause, kShortest, kLongest);
}

std::uint64_t total_size(const std::vector<ShardReport>& reports) {
  std::uint64_t bytes = 0;
  for (const ShardReport& report : reports) bytes += report.size;
  return bytes;
}

}  // namespace

class Saver::Impl {
 public:
  Impl(Team& team, SystemCalls& calls, Options options)
      : team_(team), calls_(calls), write_calls_(calls), options_(std::move(options)) {
    const RankVerdict mine = verdict_of([&]() -> std::string {
      if (team_.rank() != 0) return {};
      make_checkpoint_folder(calls_, options_.folder);
      sweep(calls_, options_.folder);
      return {};
    });
    constexpr const char* kAct = "opening the folder of checkpoints";
    require_success(kAct, exchange(team_, kAct, mine));
  }

  ~Impl() {
    if (save_ == nullptr) return;
    stop();
    if (team_.rank() == 0 && save_->committed == 0) {
      log_warning(kTag, "a save was under way and is given up: ", step_name(save_->request.step));
      give_up_step(calls_, save_->temporary);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::uint64_t prepare(std::span<const HeldPart> parts) {
    if (!options_.is_async) return 0;
    make_staging(lay_out_shard(parts, draw_id()).size);
    return staging_->capacity();
  }

  void save(const SaveRequest& request) {
    finish();
    entered_ = monotonic_seconds();
    begin(request);
    start_writing();
    if (!options_.is_async) finish_or_stop();
    leave();
  }

  std::optional<SaveResult> poll() {
    entered_ = monotonic_seconds();
    std::optional<SaveResult> result = look();
    leave();
    return result;
  }

  std::optional<SaveResult> finish() {
    entered_ = monotonic_seconds();
    std::optional<SaveResult> result;
    while (save_ != nullptr && !(result = look())) {
      const std::chrono::milliseconds pause = pause_after(monotonic_seconds() - phase_begun_);
      if (save_->mine.kind == RankVerdict::Kind::working) {
        task_.wait_for(pause);
      } else {
        std::this_thread::sleep_for(pause);  // the others are not done
      }
    }
    return result;
  }

  bool is_saving() const { return save_ != nullptr; }
  const std::optional<SaveResult>& last_result() const { return last_; }

 private:
  /// The caller's tensors may be gone once a synchronous save has thrown.
  void finish_or_stop() {
    try {
      finish();
    } catch (...) {
      stop();
      throw;
    }
  }

  /// Ends what the background thread does, the sooner while it writes.
  void stop() {
    write_calls_.cancel(true);
    while (!task_.is_done()) task_.wait_for(std::chrono::seconds(1));
  }

  /// Counts the time in here as time that training waited.
  void leave() {
    if (save_ != nullptr) save_->stall += monotonic_seconds() - entered_;
  }

  void make_staging(std::uint64_t size) {
    if (staging_ != nullptr && staging_->capacity() >= size) return;
    staging_.reset();
    staging_ = std::make_unique<Staging>(size);
  }

  std::string act(const char* what) const { return concat(what, ' ', step_name(save_->request.step)); }

  /// Agrees on the name of the save, in whose folder all write.
  void begin(const SaveRequest& request) {
    auto save = std::make_unique<Save>();
    save->request = request;
    const bool is_first = team_.rank() == 0;
    const RankVerdict mine = verdict_of([&]() -> std::string {
      if (!is_first) return {};
      std::string id = draw_id();
      save->origin = options_.origin ? options_.origin() : Origin{};
      begin_step(calls_, options_.folder, request.step, id, must_make_way_ ? loaded_or_none() : std::nullopt);
      return id;
    });
    const std::string act = concat("beginning ", step_name(request.step));
    const std::vector<RankVerdict> verdicts = exchange(team_, act, mine);
    require_success(act, verdicts);
    save->id = verdicts.front().text;
    save->temporary = temporary_folder(options_.folder, request.step, save->id);
    save_ = std::move(save);
    phase_begun_ = save_->begun;
    if (is_first) log_info(kTag, "saving ", step_name(request.step), options_.is_async ? ", training goes on" : "");
  }

  /// The step after which there must be no other history's. Steps begin with 0.
  std::optional<std::int64_t> loaded_or_none() const { return options_.loaded.value_or(-1); }

  /// What fails here is told to the others at the next look, like a failure to write.
  void start_writing() {
    write_calls_.cancel(false);
    const RankVerdict verdict = verdict_of([&]() -> std::string {
      Save& save = *save_;
      const std::int64_t rank = team_.rank();
      const std::filesystem::path path = save.temporary / shard_name(rank, team_.size());
      save.layout = lay_out_shard(save.request.parts, save.id, save.request.export_dtype);
      if (options_.is_async) {
        make_staging(save.layout.size);
        staging_->fill(save.layout);
      }
      task_.start(
          [this, &save, path] {
            save.report = options_.is_async ? write_shard(write_calls_, path, *staging_, &save.written)
                                            : write_shard(write_calls_, path, save.layout, &save.written);
          },
          options_.is_async);
      return {};
    });
    if (verdict.kind == RankVerdict::Kind::failed) save_->mine = verdict;
  }

  /// One look at the save, together with the other ranks.
  std::optional<SaveResult> look() {
    if (save_ == nullptr) return std::nullopt;
    take_own_verdict();
    note_progress();
    const std::string name = act(save_->is_publishing ? "publishing" : "writing");
    const std::vector<RankVerdict> verdicts = exchange(team_, name, save_->mine);
    const bool has_failed = any_is(verdicts, RankVerdict::Kind::failed);
    if (has_failed && !save_->is_publishing) write_calls_.cancel(true);
    if (any_is(verdicts, RankVerdict::Kind::working)) return std::nullopt;
    if (has_failed) give_up(name, verdicts);
    if (save_->is_publishing) return commit(verdicts.front());
    start_publishing();
    return std::nullopt;
  }

  /// Ends the own task if it is done.
  void take_own_verdict() {
    if (save_->mine.kind != RankVerdict::Kind::working || !task_.is_done()) return;
    save_->mine = verdict_of([&]() -> std::string {
      task_.take();
      return save_->is_publishing ? concat(save_->committed - save_->begun) : std::string();
    });
    // Canceled because another rank failed: that one's reason counts.
    if (write_calls_.is_canceled()) save_->mine = {};
  }

  /// Gathers what the ranks wrote and has rank 0 make a step of it.
  void start_publishing() {
    const std::string name = act("gathering");
    save_->mine.text = write_shard_report(save_->report);
    for (const RankVerdict& verdict : exchange(team_, name, save_->mine)) {
      save_->reports.push_back(read_shard_report(verdict.text));
    }
    save_->is_publishing = true;
    save_->mine = {};
    phase_begun_ = monotonic_seconds();
    if (team_.rank() != 0) return;
    save_->mine = verdict_of([&]() -> std::string {
      task_.start([this] { publish(); }, options_.is_async);
      return {};
    });
    if (save_->mine.kind == RankVerdict::Kind::done) save_->mine.kind = RankVerdict::Kind::working;
  }

  /// On rank 0's background thread.
  void publish() {
    Save& save = *save_;
    Manifest manifest;
    manifest.step = save.request.step;
    manifest.save_id = save.id;
    manifest.contents = save.request.contents;
    manifest.origin = save.origin;
    publish_step(calls_, options_.folder, save.temporary, std::move(manifest), save.reports, save.request.extra,
                 [this] { make_way(); });
    save.committed = monotonic_seconds();
    try {
      retain(calls_, options_.folder, options_.keep_latest_k, options_.loaded);
    } catch (const std::exception& error) {  // the step is committed, whatever comes after
      log_warning(kTag, "cannot remove old steps: ", error.what());
    }
  }

  /// Before the first step of this run's history: what is newer than its beginning belongs to another one.
  void make_way() {
    if (!must_make_way_) return;
    constexpr std::size_t kDigits = 8;
    const std::string name = options_.run_id.empty() ? save_->id.substr(0, kDigits) : options_.run_id;
    abandon_newer(calls_, options_.folder, *loaded_or_none(), name);
    must_make_way_ = false;
  }

  [[noreturn]] void give_up(const std::string& name, const std::vector<RankVerdict>& verdicts) {
    if (team_.rank() == 0) give_up_step(calls_, save_->temporary);
    save_.reset();
    require_success(name, verdicts);
    throw InternalError("[checkpoint] a save failed on no rank");
  }

  SaveResult commit(const RankVerdict& first) {
    const std::unique_ptr<Save> save = std::exchange(save_, nullptr);
    SaveResult result;
    result.step = save->request.step;
    result.bytes = save->layout.size;
    result.seconds = parse_number<double>(first.text).value_or(0);
    result.stall = std::min(save->stall + monotonic_seconds() - entered_, monotonic_seconds() - save->begun);
    last_ = result;
    if (team_.rank() == 0) {
      log_info(kTag, step_name(result.step), " saved: ", bytes_text(total_size(save->reports)), " in ",
               seconds_text(result.seconds), " (training waited ", seconds_text(result.stall), ")");
    }
    return result;
  }

  void note_progress() {
    const double now = monotonic_seconds();
    if (team_.rank() != 0 || save_->mine.kind != RankVerdict::Kind::working ||
        now - save_->noted < kSecondsBetweenNotes) {
      return;
    }
    save_->noted = now;
    const std::uint64_t size = std::max<std::uint64_t>(save_->layout.size, 1);
    log_info(kTag, act(save_->is_publishing ? "publishing" : "saving"), ": ", save_->written * 100 / size,
             " % of this rank's ", bytes_text(size), " written after ", seconds_text(now - save_->begun));
  }

  Team& team_;
  SystemCalls& calls_;
  CancelableCalls write_calls_;
  Options options_;
  bool must_make_way_ = true;  // on rank 0, and its background thread
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<Save> save_;
  std::optional<SaveResult> last_;
  double entered_ = 0;
  double phase_begun_ = 0;
  BackgroundTask task_;  // the last member: it uses the others
};

Saver::Saver(Team& team, SystemCalls& calls, Options options)
    : impl_(std::make_unique<Impl>(team, calls, std::move(options))) {}
Saver::~Saver() = default;

std::uint64_t Saver::prepare(std::span<const HeldPart> parts) { return impl_->prepare(parts); }
void Saver::save(const SaveRequest& request) { impl_->save(request); }
std::optional<SaveResult> Saver::poll() { return impl_->poll(); }
std::optional<SaveResult> Saver::finish() { return impl_->finish(); }
bool Saver::is_saving() const { return impl_->is_saving(); }
std::optional<SaveResult> Saver::last_result() const { return impl_->last_result(); }

std::optional<std::int64_t> Saver::last_committed() const {
  const std::optional<SaveResult>& last = impl_->last_result();
  return last ? std::optional(last->step) : std::nullopt;
}

}  // namespace titan::checkpoint
