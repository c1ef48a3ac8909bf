#include "counter.hpp"

#include <filesystem>
#include <string>

#include "titan/sdk/text.hpp"

namespace collective_counter {

namespace sdk = titan::sdk;

Counter::Counter(sdk::Host host) : host_(host), logs_(host.config().boolean("collective_counter.log_steps")) {}

void Counter::run_begin(const titan_run_event& event) {
  const auto folder = std::filesystem::path(sdk::view(event.dump_folder)) / "collectives";
  std::filesystem::create_directories(folder);
  const auto path = folder / sdk::concat("rank_", host_.rank(), ".jsonl");
  file_.open(path, std::ios::trunc);
  if (!file_) throw sdk::CreateError("[collectives] the file cannot be created: ", path.string());
  if (!counts_.empty()) close("start", event.first_step - 1);
}

void Counter::step_end(const titan_step_event& event) {
  if (logs_) host_.info("collectives", sdk::concat("step ", event.step, ": ", counts_.summary()));
  close("step", event.step);
}

void Counter::validation(const titan_validation_event& event) { close("validation", event.step); }

void Counter::run_end(const titan_run_end_event& event) {
  if (file_.is_open() && !counts_.empty()) close("end", event.step);
}

void Counter::close(std::string_view stretch, std::int64_t step) {
  // Flushed row by row: what a rank did before it died is what one wants to read.
  file_ << sdk::concat("{\"stretch\": ", json_text(stretch), ", \"step\": ", step, ", \"rank\": ", host_.rank(),
                       ", \"collectives\": ", counts_.json(), "}\n")
        << std::flush;
  if (!file_) throw sdk::IoError("[collectives] the file cannot be written: step ", step);
  counts_.clear();
}

}  // namespace collective_counter
