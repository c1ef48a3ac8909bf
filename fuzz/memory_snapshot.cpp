#include "core/trace/memory_summary.hpp"
#include "core/trace/snapshot.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::trace;

void check(const DeviceSummary& device) {
  titan::fuzz::expect(device.peak.bytes >= device.end.bytes && device.peak.bytes >= device.before_bytes);
  titan::fuzz::expect(device.timeline.bands.size() == device.timeline.stacks.size());
  for (std::size_t i = 0; i < device.timeline.bytes.size(); ++i) {
    std::int64_t sum = 0;
    for (const auto& band : device.timeline.stacks) sum += band[i];
    titan::fuzz::expect(sum == device.timeline.bytes[i] && sum <= device.peak.bytes && sum >= 0);
  }
}

void parse(std::string_view input) {
  const Snapshot snapshot = read_snapshot(input, "input");
  for (const BandsBy bands : {BandsBy::kind, BandsBy::module}) {
    for (const DeviceSummary& device : summarise(snapshot, {.top = 3, .bands = bands}, "input")) check(device);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
