#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/app/named_output.hpp"
#include "core/app/output.hpp"
#include "core/app/trace/memory_report.hpp"
#include "core/app/trace/run_snapshots.hpp"
#include "core/app/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/chart/svg.hpp"
#include "core/trace/memory_summary.hpp"

namespace titan::app {
namespace {

constexpr std::int64_t kMostTop = 10'000;

trace::SummaryRequest request_of(const config::CommandLine& line) {
  trace::SummaryRequest request;
  if (line.has("top")) {
    const auto top = parse_number<std::int64_t>(line.last("top"));
    if (!top || *top < 1 || *top > kMostTop) {
      throw UsageError("[trace] --top must be a number from 1 to ", kMostTop, ": ", printable(line.last("top")));
    }
    request.top = static_cast<std::size_t>(*top);
  }
  const std::string by = line.has("by") ? line.last("by") : "kind";
  if (by == "module") {
    request.bands = trace::BandsBy::module;
  } else if (by == "operator") {
    request.bands = trace::BandsBy::op;
  } else if (by != "kind") {
    throw UsageError("[trace] --by must be one of kind, module, operator: ", printable(by));
  }
  return request;
}

/// The device whose peak is the highest is the one to look at.
const trace::DeviceSummary& fullest(const std::vector<trace::DeviceSummary>& devices) {
  const trace::DeviceSummary* found = &devices.front();
  for (const trace::DeviceSummary& device : devices) {
    if (device.peak.bytes > found->peak.bytes) found = &device;
  }
  return *found;
}

double limit_of(const trace::Snapshot& snapshot) {
  const bool has_limit = snapshot.facts && snapshot.facts->limit_bytes > 0;
  return has_limit ? static_cast<double>(snapshot.facts->limit_bytes) : std::nan("");
}

/// Of a folder the newest one, and a line that says so.
std::string chosen_file(const std::string& given, std::string& remark) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(given, ignored)) return given;
  const std::vector<std::filesystem::path> files = find_snapshots(given);
  if (files.size() > 1) {
    remark = concat("the newest of ", files.size(), " snapshots; the one before: ", printable(files[1].native()), "\n");
  }
  return files.front().native();
}

void run(const Session& session, const config::Invocation& invocation) {
  const config::CommandLine line = session.read(*invocation.verb, invocation.words);
  if (line.positionals.size() != 1) throw UsageError("[trace] memory takes one file: titan trace memory FILE");
  std::string remark;
  const std::string file = chosen_file(line.positionals.front(), remark);
  const trace::SummaryRequest request = request_of(line);
  const trace::Snapshot snapshot = trace::read_snapshot(std::filesystem::path(file));
  const std::vector<trace::DeviceSummary> devices = trace::summarise(snapshot, request, file);
  if (line.has("svg")) {
    if (devices.empty()) throw DataError("[trace] nothing was allocated, there is no picture of it: ", printable(file));
    const trace::DeviceSummary& device = fullest(devices);
    const std::string title = concat("bytes alive on device ", device.device, ", ", file);
    write_named_output(line.last("svg"), chart::picture_file(memory_picture(title, device, limit_of(snapshot))),
                       {file});
  }
  print(line.has("json") ? memory_json(file, snapshot, devices) : remark + memory_report(file, snapshot, devices));
}

}  // namespace

AppVerb trace_memory_verb() {
  std::vector<config::Flag> flags{
      {.name = "top", .metavar = "N", .help = "Rows of each list. Default: 10."},
      {.name = "svg",
       .metavar = "FILE",
       .help = "Write the bytes over time as a picture, of the device with the highest peak."},
      {.name = "by",
       .metavar = "WHAT",
       .help = "Bands of the picture: kind, module (whole layers) or operator. Default: kind."},
      {.name = "json", .metavar = {}, .help = "Print one JSON object, sizes in bytes."}};
  flags.push_back(help_flag());
  return {{.name = "trace memory",
           .summary =
               "Summarise a memory snapshot, titan's or PyTorch's: the peak and what was alive then by kind, "
               "module and operator, and what grows from step to step. Of a folder, such as a run's, the newest one.",
           .flags = std::move(flags),
           .positionals = {"FILE_OR_FOLDER"},
           .takes_options = false},
          &run};
}

}  // namespace titan::app
