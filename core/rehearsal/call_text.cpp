#include "core/rehearsal/call_text.hpp"

#include "core/base/listing.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/text.hpp"

namespace titan::rehearsal {
namespace {

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> numbers;
  for (const std::int64_t size : sizes) numbers.push_back(concat(size));
  return concat('[', join(numbers, ", "), ']');
}

std::string row_text(std::vector<std::int64_t> sizes) {
  if (!sizes.empty()) sizes.erase(sizes.begin());
  return sizes_text(sizes);
}

bool is_transfer(const RehearsedCall& call) { return call.op == "send" || call.op == "recv"; }

const std::vector<std::int64_t>& sizes_of(const RehearsedCall& call) {
  return call.op == "recv" ? call.output_sizes : call.input_sizes;
}

}  // namespace

std::string signature_of(const RehearsedCall& call) {
  if (is_transfer(call)) {
    return concat("transfer ", call.dtype, sizes_text(sizes_of(call)),
                  call.op == "recv" ? call.output_bytes : call.input_bytes);
  }
  if (call.op == "alltoall_base") return concat(call.op, ' ', call.dtype, row_text(call.input_sizes));
  return concat(call.op, ' ', call.dtype, sizes_text(call.input_sizes), sizes_text(call.output_sizes));
}

std::string call_text(const RehearsedCall& call) {
  if (call.dtype.empty()) return printable(call.op);
  return concat(printable(call.op), " of ", printable(call.dtype), ' ', sizes_text(sizes_of(call)));
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  return concat(ranks.size() == 1 ? "rank " : "ranks ", join_first(runs_of(ranks)));
}

std::string module_text(const std::string& module) {
  return module.empty() ? std::string() : concat(", for ", printable(module));
}

}  // namespace titan::rehearsal
