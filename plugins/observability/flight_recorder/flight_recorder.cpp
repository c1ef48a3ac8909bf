#include "plugins/observability/flight_recorder/flight_recorder.hpp"

#include <charconv>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "plugins/observability/flight_recorder/fr_dump.hpp"
#include "plugins/observability/output_file.hpp"

namespace titan::observability {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTag = "flight_recorder";
constexpr const char* kEarlier = "earlier";
constexpr const char* kEarlierPrefix = "earlier_";  // PyTorch's analyser looks into folders of a folder, too

fs::path dump_folder_of(const sdk::Config& config) {
  const fs::path folder = config.string("comm.save_traces_folder");
  const fs::path normal = folder.lexically_normal();
  if (folder.is_relative() && !normal.empty() && *normal.begin() == "..") {
    throw sdk::ConfigError(
        "[observability] it leads out of dump_folder, give an absolute path: comm.save_traces_folder ",
        folder.native());
  }
  return fs::path(config.string("dump_folder")) / folder;
}

/// What a dump of that many calls has written.
std::string what_was_written(std::uint64_t num_calls, bool is_alone) {
  if (num_calls > 1) return sdk::concat("wrote the last ", num_calls, " calls of this rank");
  if (num_calls == 1) return "wrote the only call of this rank";
  return is_alone ? "a run of one rank makes no calls, wrote that" : "this rank has made no calls yet, wrote that";
}

/// Ranks from `first` on whose dumps lie in the folder. A number that is no rank's is nobody's.
std::vector<std::int64_t> ranks_in(const fs::path& folder, const std::string& prefix, std::int64_t first) {
  std::vector<std::int64_t> ranks;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(prefix)) continue;
    std::int64_t rank = -1;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), rank);
    if (rank >= first && name == sdk::concat(prefix, rank)) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

void FlightRecorder::describe(sdk::Describe& declare) {
  declare.options({
      {"comm.dump_traces_at_exit", false, "Write the flight recorder's dump when the run ends well, too."},
      {"comm.save_traces_file_prefix", "rank_", "Name of a rank's dump of the flight recorder, before its number."},
      {"comm.save_traces_folder", sdk::Path{"comm_traces"},
       "Folder of the flight recorder's dumps, in dump_folder unless absolute: on a timeout, an error or SIGUSR2 each "
       "rank writes there what calls of collectives it made. Those of the run before go to the folder earlier in it."},
  });
}

FlightRecorder::FlightRecorder(sdk::Host host)
    : host_(host), dumps_at_exit_(host.config().boolean("comm.dump_traces_at_exit")) {
  prefix_ = host.config().string("comm.save_traces_file_prefix");
  // A digit before the number would make another rank of it.
  const bool ends_in_digit = !prefix_.empty() && prefix_.back() >= '0' && prefix_.back() <= '9';
  if (ends_in_digit || prefix_.find('/') != std::string::npos || prefix_.starts_with('.')) {
    throw sdk::ConfigError(
        "[observability] no prefix of a file name, which may neither begin with a dot, hold a slash "
        "nor end in a digit: comm.save_traces_file_prefix ",
        prefix_);
  }
  path_ = dump_folder_of(host.config()) / sdk::concat(prefix_, host.rank());
}

void FlightRecorder::run_begin(const titan_run_event& /*event*/) {
  const fs::path folder = path_.parent_path();
  std::error_code ignored;
  if (!fs::is_directory(fs::symlink_status(folder, ignored))) return;
  try {
    if (fs::exists(fs::symlink_status(folder / kEarlier))) make_private_folders(folder / kEarlier);
    if (!has_dumped_) set_aside(host_.rank());
    if (host_.rank() != 0) return;
    for (const std::int64_t rank : ranks_in(folder / kEarlier, kEarlierPrefix + prefix_, host_.world_size())) {
      set_aside(rank);
    }
    for (const std::int64_t rank : ranks_in(folder, prefix_, host_.world_size())) set_aside(rank);
  } catch (const std::system_error& error) {
    host_.warning(kTag, sdk::concat("dumps of an earlier run stay where those of this run belong: ", error.what()));
  }
}

void FlightRecorder::set_aside(std::int64_t rank) {
  const fs::path from = path_.parent_path() / sdk::concat(prefix_, rank);
  const fs::path to = path_.parent_path() / kEarlier / sdk::concat(kEarlierPrefix, prefix_, rank);
  fs::remove(to);
  if (!fs::is_regular_file(fs::symlink_status(from))) return;
  make_private_folders(to.parent_path());
  fs::rename(from, to);
}

void FlightRecorder::dump(const titan_dump_event& event) {
  if (event.cause == TITAN_DUMP_EXIT && !dumps_at_exit_) return;
  // A lone rank has nobody to call, which is news to who asks alone.
  const bool is_asked_for = event.cause == TITAN_DUMP_EXIT || event.cause == TITAN_DUMP_REQUEST;
  if (host_.world_size() == 1 && event.num_records == 0 && !is_asked_for) return;
  has_dumped_ = true;
  try {
    write_fr_dump(path_, event, {.rank = host_.rank(), .world_size = host_.world_size()});
    say(event);
  } catch (const std::system_error& error) {
    host_.warning(kTag, sdk::concat("the calls of this rank cannot be written down: ", error.what()));
  }
}

void FlightRecorder::say(const titan_dump_event& event) {
  // One failure makes several dumps, each of which knows more; a request has an answer each time.
  const std::int32_t told_before = std::exchange(said_cause_, event.cause);
  if (event.cause == told_before && event.cause != TITAN_DUMP_REQUEST) return;
  const bool is_alone = host_.world_size() == 1;
  const std::string_view place = sdk::view(event.place);
  const std::string next = sdk::concat("; to compare the ranks: titan trace analyse ", path_.parent_path().native());
  host_.info(kTag, sdk::concat(what_was_written(event.num_records, is_alone), " to ", path_.native(), " (",
                               cause_name(event.cause), place.empty() ? "" : ", ", place, ')',
                               is_alone ? std::string() : next));
}

}  // namespace titan::observability
