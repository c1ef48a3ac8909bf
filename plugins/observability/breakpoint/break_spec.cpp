#include "plugins/observability/breakpoint/break_spec.hpp"

#include <charconv>
#include <set>

#include "plugins/observability/breakpoint/text_parts.hpp"
#include "titan/sdk/error.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kForm =
    "; the form is rank=1,step=3,module=layers.2,phase=forward, every key at most once (rank: 0 unless given; without "
    "step: the first time; without module: where a step begins; phase: forward or backward), several places separated "
    "by semicolons";

template <class... Parts>
[[noreturn]] void refuse(std::string_view item, const Parts&... why) {
  throw sdk::ConfigError("[breakpoint] debug.break_at: ", sdk::concat(why...), ", in \"", item, '"', kForm);
}

std::int64_t whole(std::string_view item, std::string_view key, std::string_view value, std::int64_t lowest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < lowest) {
    refuse(item, key, " must be a whole number of at least ", lowest, ", got \"", value, '"');
  }
  return number;
}

void read_pair(std::string_view item, std::string_view key, std::string_view value, BreakSpec& out,
               std::uint32_t world_size, std::int64_t last_step) {
  if (key == "rank") {
    const std::int64_t rank = whole(item, key, value, 0);
    if (rank >= world_size) {
      refuse(item, "there is no rank ", rank, ": the run has ", world_size, " (0 to ", world_size - 1, ')');
    }
    out.rank = static_cast<std::uint32_t>(rank);
  } else if (key == "step") {
    out.step = whole(item, key, value, 1);
    if (*out.step > last_step) refuse(item, "step ", *out.step, " never comes: training.steps is ", last_step);
  } else if (key == "module") {
    if (value.empty()) refuse(item, "module needs a name");
    out.module = value;
  } else if (key == "phase") {
    if (value != "forward" && value != "backward") refuse(item, "phase is forward or backward, got \"", value, '"');
    out.in_backward = value == "backward";
  } else {
    refuse(item, "unknown key \"", key, "\", allowed: rank, step, module, phase");
  }
}

BreakSpec parse_item(std::string_view item, std::uint32_t world_size, std::int64_t last_step) {
  BreakSpec spec;
  std::set<std::string_view> keys;
  for (const std::string_view part : split_parts(item, ',')) {
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos) refuse(item, "expected KEY=VALUE, got \"", part, '"');
    const std::string_view key = trimmed(part.substr(0, sign));
    if (!keys.insert(key).second) refuse(item, key, " is there twice");
    read_pair(item, key, trimmed(part.substr(sign + 1)), spec, world_size, last_step);
  }
  if (keys.contains("phase") && spec.module.empty()) refuse(item, "phase needs a module");
  return spec;
}

}  // namespace

std::string BreakSpec::text() const {
  std::string out = sdk::concat("rank=", rank);
  if (step) out += sdk::concat(",step=", *step);
  if (!module.empty()) out += sdk::concat(",module=", module, in_backward ? ",phase=backward" : "");
  return out;
}

std::vector<BreakSpec> parse_break_at(std::string_view text, std::uint32_t world_size, std::int64_t last_step) {
  std::vector<BreakSpec> specs;
  for (const std::string_view item : split_parts(text, ';')) specs.push_back(parse_item(item, world_size, last_step));
  return specs;
}

}  // namespace titan::observability
