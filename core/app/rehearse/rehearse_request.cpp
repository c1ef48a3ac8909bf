#include "core/app/rehearse/rehearse_request.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/launch/option_values.hpp"

namespace titan::app {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kMostSteps = 1000;
constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr double kMostGibibytes = 1 << 20;

std::int64_t whole_number(const config::CommandLine& line, const char* flag, std::int64_t most) {
  const std::string text = line.last(flag, "1");
  if (const auto number = launch::parse_whole(text, 1, most)) return *number;
  throw UsageError("[rehearse] --", flag, " takes a number from 1 to ", most, ": ", printable(shortened(text, 100)));
}

/// A property of the layout, as a degree is.
std::int64_t world_size(const config::CommandLine& line) {
  const std::string text = line.last("world-size", "1");
  if (const auto number = launch::parse_whole(text, 1, kMostRanks)) return *number;
  throw ConfigError("[rehearse] --world-size takes a number of ranks from 1 to ", kMostRanks, ": ",
                    printable(shortened(text, 100)));
}

std::optional<std::int64_t> shown_rank(const config::CommandLine& line, std::int64_t world_size) {
  if (!line.has("rank")) return std::nullopt;
  const std::string text = line.last("rank");
  if (const auto number = launch::parse_whole(text, 0, world_size - 1)) return number;
  throw ConfigError("[rehearse] --rank takes a rank from 0 to ", world_size - 1, " (--world-size ", world_size,
                    "): ", printable(shortened(text, 100)));
}

std::optional<std::int64_t> limit_bytes(const config::CommandLine& line) {
  if (!line.has("memory-per-gpu")) return std::nullopt;
  const std::string text = line.last("memory-per-gpu");
  const auto gibibytes = parse_number<double>(text);
  if (gibibytes && std::isfinite(*gibibytes) && *gibibytes > 0 && *gibibytes <= kMostGibibytes) {
    return std::llround(*gibibytes * kGibibyte);
  }
  throw UsageError("[rehearse] --memory-per-gpu takes GiB, a number above 0 and at most ", kMostGibibytes, ": ",
                   printable(shortened(text, 100)));
}

}  // namespace

std::vector<config::Flag> rehearse_flags() {
  return {
      {.name = "world-size", .metavar = "N", .help = "Ranks of the layout. Default: 1."},
      {.name = "rehearsed-steps",
       .metavar = "N",
       .help = "Steps to rehearse; what is shown is of the last one. Default: 1."},
      {.name = "all-ranks",
       .metavar = {},
       .help = "Rehearse every rank. Default: one of each kind, for all with the same work."},
      {.name = "rank", .metavar = "R", .help = "Show the view of this rank. Default: of every kind of rank."},
      {.name = "memory-per-gpu",
       .metavar = "GIB",
       .help = "Memory that every rank is to fit in. Where one does not, the nearest change of options that fits is "
               "searched and the exit status is 71."},
      {.name = "hardware",
       .metavar = "NAME",
       .help = "What the time is estimated for: h100 (default), h200, or a TOML file with figures."},
      {.name = "json", .metavar = {}, .help = "Print one JSON object."},
      {.name = "html", .metavar = "FILE", .help = "Write a page with pictures too; it needs nothing but a browser."}};
}

RehearseRequest rehearse_request(const config::CommandLine& line) {
  RehearseRequest request;
  request.world_size = world_size(line);
  request.steps = whole_number(line, "rehearsed-steps", kMostSteps);
  request.all_ranks = line.has("all-ranks");
  request.shown_rank = shown_rank(line, request.world_size);
  request.limit_bytes = limit_bytes(line);
  request.has_hardware = line.has("hardware");
  request.hardware = rehearsal::find_hardware(line.last("hardware", "h100"));
  request.json = line.has("json");
  request.html = line.last("html");
  if (line.has("html") && request.html.empty()) throw UsageError("[rehearse] --html takes the file to write");
  return request;
}

}  // namespace titan::app
