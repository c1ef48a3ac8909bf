#include "plugins/observability/spans/spans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "plugins/observability/clocks.hpp"
#include "plugins/observability/json_line.hpp"
#include "plugins/observability/output_file.hpp"
#include "plugins/observability/spans/span_rows.hpp"

namespace titan::observability {
namespace {

constexpr double kSecondsBetweenWrites = 1;
constexpr std::size_t kBytesBetweenWrites = 1 << 18;
constexpr int kFirstSignalCode = 128;

std::string_view name_of_end(std::int32_t code) {
  if (code == 0) return "end";
  if (code == TITAN_ERROR_RESOURCE) return "out_of_memory";
  if (code == TITAN_ERROR_NON_FINITE) return "non_finite";
  if (code == TITAN_ERROR_STOPPED || code > kFirstSignalCode) return "stopped";
  return "error";
}

/// Before the run has begun nobody else says what its error is.
std::string_view name_of_dump(std::int32_t cause, std::string_view reason) {
  if (cause == TITAN_DUMP_ERROR && reason.find("] out of memory") != std::string_view::npos) return "out_of_memory";
  if (cause == TITAN_DUMP_TIMEOUT) return "timeout";
  if (cause == TITAN_DUMP_STOP) return "stopped";
  return cause == TITAN_DUMP_ERROR ? "error" : "dump";
}

}  // namespace

void Spans::describe(sdk::Describe& declare) {
  declare.option({"debug.enable_structured_logging", true,
                  "Write phases, steps and collectives of each rank, and when they were, to spans/rank_N.jsonl in the "
                  "dump folder, for titan report."});
}

ToolPointer Spans::make(sdk::Host host) {
  return host.config().boolean("debug.enable_structured_logging") ? std::make_unique<Spans>(host) : nullptr;
}

Spans::Spans(sdk::Host host) : host_(host), offset_(epoch_offset()) {
  const sdk::Config config = host.config();
  path_ = std::filesystem::path(config.string("dump_folder")) / "spans" / sdk::concat("rank_", host.rank(), ".jsonl");
  run_row_ = rows::run(host.rank(), host.world_size(), config.integer("training.steps"), epoch_seconds());
}

Spans::~Spans() {
  const std::lock_guard lock(mutex_);
  write(/*whatever=*/true);
}

std::uint32_t Spans::events() const {
  return TITAN_EVENT_RUN_BEGIN | TITAN_EVENT_STEP_END | TITAN_EVENT_VALIDATION | TITAN_EVENT_RUN_END |
         TITAN_EVENT_COLLECTIVE | TITAN_EVENT_SPAN | TITAN_EVENT_DUMP;
}

void Spans::run_begin(const titan_run_event& event) {
  const std::lock_guard lock(mutex_);
  if (!file_) open(event.first_step);
  is_begun_ = true;
  write();
}

void Spans::step_end(const titan_step_event& event) {
  const std::lock_guard lock(mutex_);
  add(rows::step(event));
  add_skipped(event);
}

void Spans::left_out(std::int64_t step, std::string_view why) {
  const std::lock_guard lock(mutex_);
  left_out_step_ = step;
  why_left_out_ = why;
}

void Spans::add_skipped(const titan_step_event& event) {
  // No step with such numbers is updated, whoever decided so.
  const bool is_finite = std::isfinite(event.loss) && std::isfinite(event.grad_norm);
  if (is_finite && left_out_step_ != event.step) return;
  const bool is_ours = left_out_step_ == event.step && !why_left_out_.empty();
  const std::string why = is_ours     ? why_left_out_
                          : is_finite ? std::string("another rank says why")
                                      : std::string("loss or gradient norm is not finite");
  add(rows::event("skipped", epoch_seconds(), event.step, sdk::concat("the update is left out: ", why)));
}

void Spans::validation(const titan_validation_event& event) {
  const std::lock_guard lock(mutex_);
  add(rows::validation(event));
}

void Spans::run_end(const titan_run_end_event& event) {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  const std::string_view name = name_of_end(event.code);
  // A failure belongs to the step in which it was, which is not finished.
  const bool has_finished = name == "end" || name == "stopped";
  const std::int64_t step = has_finished ? event.step : std::max(event.step, step_);
  rows_ += rows::event(name, epoch_seconds(), step, sdk::view(event.message));
  write(/*whatever=*/true);
}

void Spans::collective(const titan_collective_event& event) {
  const std::lock_guard lock(mutex_);
  add(rows::collective(event, step_, offset_));
}

void Spans::span(const titan_span_event& event) {
  const std::lock_guard lock(mutex_);
  step_ = event.step;
  if (event.is_end == 0) {
    open_spans_.push_back(event);
    return;
  }
  if (open_spans_.empty()) return;
  const titan_span_event begin = open_spans_.back();
  open_spans_.pop_back();
  add(rows::span(begin, event.time, sdk::view(event.detail), offset_));
}

void Spans::dump(const titan_dump_event& event) {
  if (event.cause == TITAN_DUMP_EXIT) return;
  const std::lock_guard lock(mutex_);
  // The end of the run has said it already.
  if (has_ended_ && (event.cause == TITAN_DUMP_ERROR || event.cause == TITAN_DUMP_STOP)) return;
  const double now = monotonic_seconds();
  const std::string text = sdk::concat(sdk::view(event.reason), " (", sdk::view(event.place), ')');
  rows_ += rows::event(name_of_dump(event.cause, sdk::view(event.reason)), now + offset_, step_, text);
  const bool is_fatal = event.cause != TITAN_DUMP_REQUEST;
  write(is_fatal);
  if (is_fatal) write_open(now);
}

void Spans::add(const std::string& row) {
  rows_ += row;
  const double now = monotonic_seconds();
  if (now - last_write_ < kSecondsBetweenWrites && rows_.size() < kBytesBetweenWrites) return;
  last_write_ = now;
  write();
}

void Spans::open(std::int64_t first_step) {
  try {
    make_private_folders(path_.parent_path());
    const auto keep = [first_step](std::string_view line) { return is_kept(line, first_step); };
    file_ = first_step == 1 ? LineFile::begin(path_) : LineFile::resume(path_, keep);
  } catch (const std::system_error& error) {
    give_up(error.what());
  }
}

void Spans::write(bool whatever) {
  if (gave_up_) rows_.clear();
  if (rows_.empty() || (!is_begun_ && !whatever)) return;
  if (!file_) open(std::numeric_limits<std::int64_t>::max());
  if (!file_) return;
  try {
    if (num_provisional_ > 0) file_->withdraw(std::exchange(num_provisional_, 0));
    file_->append(run_row_ + rows_);
    run_row_.clear();
  } catch (const std::system_error& error) {
    give_up(error.what());
  }
  rows_.clear();
}

void Spans::write_open(double now) {
  if (!file_ || gave_up_ || open_spans_.empty()) return;
  std::string text;
  for (auto begin = open_spans_.rbegin(); begin != open_spans_.rend(); ++begin) {
    text += rows::span(*begin, now, {}, offset_);
  }
  try {
    file_->append(text);
    num_provisional_ = text.size();
  } catch (const std::system_error& error) {
    give_up(error.what());
  }
}

void Spans::give_up(const char* reason) {
  gave_up_ = true;
  rows_.clear();
  host_.warning("spans", sdk::concat("no more rows go to ", path_.native(), ": ", reason));
}

}  // namespace titan::observability
