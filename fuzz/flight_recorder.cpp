#include "core/trace/dump_verdict.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::trace;

/// Ranks of a finding are ranks of its group, and its calls are theirs.
void check(const Analysis& analysis) {
  for (const Finding& finding : analysis.findings) {
    titan::fuzz::expect(finding.group < analysis.groups.size());
    titan::fuzz::expect(finding.calls.size() == finding.callers.size());
    titan::fuzz::expect(finding.late.size() == finding.before.size());
    titan::fuzz::expect(!finding.calls.empty());
  }
}

/// The same dump on two ranks, and beside one that made fewer calls.
void parse(std::string_view input) {
  Dumps dumps;
  read_dump(std::string(input), 0, "input", dumps);
  for (const Call& call : dumps.ranks[0].calls) titan::fuzz::expect(call.group < dumps.ranks[0].groups.size());
  read_dump(std::string(input), 1, "input", dumps);
  if (!dumps.ranks[1].calls.empty()) dumps.ranks[1].calls.pop_back();
  const Analysis analysis = analyse(dumps);
  check(analysis);
  titan::fuzz::expect(!verdict(dumps, analysis).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
