#include "core/comm/description.hpp"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/text.hpp"

namespace titan::comm {
namespace {

std::string shape_text(at::ScalarType dtype, at::IntArrayRef sizes) {
  std::vector<std::string> numbers;
  for (const std::int64_t size : sizes) numbers.push_back(concat(size));
  return concat(c10::getDtypeNames(dtype).first, " [", join(numbers, ", "), ']');
}

}  // namespace

std::string rank_list(const std::vector<std::int64_t>& ranks) { return number_runs(ranks); }

std::string named_ranks(const std::vector<std::int64_t>& ranks) {
  return concat(ranks.size() == 1 ? "rank " : "ranks ", rank_list(ranks));
}

std::string seconds_text(std::int64_t nanoseconds) {
  const std::int64_t tenths = (nanoseconds + 50'000'000) / 100'000'000;
  return concat(tenths / 10, '.', tenths % 10, " s");
}

std::string describe(const WorkRecord& record) {
  std::string text = record.op;
  if (record.is_p2p) text += concat(record.op == "send" ? " to rank " : " from rank ", record.peer);
  text += concat(", sequence ", record.sequence, ", group ", record.group, " (", named_ranks(record.members), ')');
  if (!record.module.empty()) text += concat(", module ", record.module);
  return text;
}

std::string signature(const WorkRecord& record) {
  if (record.dtype == at::ScalarType::Undefined) return record.op;
  // The ranks of an all-to-all have different numbers of rows.
  if (record.op == "alltoall_base") return concat(record.op, " of ", c10::getDtypeNames(record.dtype).first);
  const auto& sizes = record.op == "recv" ? record.output_sizes : record.input_sizes;
  return concat(record.op, " of ", shape_text(record.dtype, sizes));
}

std::string describe(const at::Tensor& tensor) {
  return tensor.defined() ? shape_text(tensor.scalar_type(), tensor.sizes()) : std::string();
}

std::string error_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error& known) {
    return known.what_without_backtrace();
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "unknown error";
  }
}

bool is_out_of_memory(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const c10::OutOfMemoryError&) {
    return true;
  } catch (const c10::Error& known) {
    // libtorch's CPU allocator reports a shortage as a plain error.
    const std::string_view text = known.what_without_backtrace();
    return text.find("not enough memory") != std::string_view::npos ||
           text.find("can't allocate memory") != std::string_view::npos;
  } catch (const ResourceError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace titan::comm
