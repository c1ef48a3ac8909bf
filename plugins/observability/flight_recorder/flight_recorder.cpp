#include "plugins/observability/flight_recorder/flight_recorder.hpp"

#include <system_error>
#include <utility>

#include "plugins/observability/flight_recorder/fr_dump.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kTag = "flight_recorder";

}  // namespace

void FlightRecorder::describe(sdk::Describe& declare) {
  declare.options({
      {"comm.dump_traces_at_exit", false, "Write the flight recorder's dump when the run ends well, too."},
      {"comm.save_traces_file_prefix", "rank_", "Name of a rank's dump of the flight recorder, before its number."},
      {"comm.save_traces_folder", sdk::Path{"comm_traces"},
       "Folder of the flight recorder's dumps, below dump_folder: on a timeout, an error or SIGUSR2 each rank writes "
       "there what calls of collectives it made."},
  });
}

FlightRecorder::FlightRecorder(sdk::Host host)
    : host_(host), dumps_at_exit_(host.config().boolean("comm.dump_traces_at_exit")) {
  const std::string prefix = host.config().string("comm.save_traces_file_prefix");
  // A digit before the number would make another rank of it.
  const bool ends_in_digit = !prefix.empty() && prefix.back() >= '0' && prefix.back() <= '9';
  if (ends_in_digit || prefix.find('/') != std::string::npos || prefix.starts_with('.')) {
    throw sdk::ConfigError(
        "[observability] no prefix of a file name, which may neither begin with a dot, hold a slash "
        "nor end in a digit: comm.save_traces_file_prefix ",
        prefix);
  }
  path_ = std::filesystem::path(host.config().string("dump_folder")) / host.config().string("comm.save_traces_folder") /
          sdk::concat(prefix, host.rank());
}

void FlightRecorder::dump(const titan_dump_event& event) {
  if (event.cause == TITAN_DUMP_EXIT && !dumps_at_exit_) return;
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
  const std::string_view place = sdk::view(event.place);
  host_.info(kTag, sdk::concat("wrote the last ", event.num_records, " calls of this rank to ", path_.native(), " (",
                               cause_name(event.cause), place.empty() ? "" : ", ", place,
                               "); to compare the ranks: titan trace analyse ", path_.parent_path().native()));
}

}  // namespace titan::observability
