#include "plugins/observability/breakpoint/elements_text.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "plugins/observability/breakpoint/slice.hpp"
#include "plugins/observability/tensor_text.hpp"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

// More elements are shown by those at the ends of each dimension.
constexpr std::int64_t kMostShown = 400;
constexpr std::int64_t kEdge = 3;

bool is_whole(const at::Tensor& tensor) { return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true); }

/// The indices at the ends of each dimension, where there are more.
struct Edges {
  at::Tensor values;
  std::vector<bool> is_cut;  // by dimension
};

Edges edges_of(at::Tensor tensor) {
  std::vector<bool> is_cut(static_cast<std::size_t>(tensor.dim()), false);
  if (tensor.numel() <= kMostShown) return {std::move(tensor), std::move(is_cut)};
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const std::int64_t size = tensor.size(dim);
    if (size <= 2 * kEdge) continue;
    is_cut[static_cast<std::size_t>(dim)] = true;
    tensor = at::cat({tensor.slice(dim, 0, kEdge), tensor.slice(dim, size - kEdge, size)}, dim);
  }
  return {std::move(tensor), std::move(is_cut)};
}

/// Text of elements, as nested lists with columns of one width.
class ElementsWriter {
 public:
  ElementsWriter(const Edges& edges, bool is_whole)
      : values_(readable(edges.values)), is_cut_(edges.is_cut), is_whole_(is_whole) {
    for (std::int64_t i = 0; i < values_.numel(); ++i) width_ = std::max(width_, element(i).size());
  }
  std::string text() const { return write(0, 0) + '\n'; }

 private:
  std::string element(std::int64_t flat) const {
    std::array<char, 40> text{};
    const int size =
        std::snprintf(text.data(), text.size(), is_whole_ ? "%.0f" : "%.5g", values_.const_data_ptr<double>()[flat]);
    return {text.data(), static_cast<std::size_t>(size)};
  }
  std::string write(std::int64_t dim, std::int64_t offset) const {
    if (dim == values_.dim()) {
      const std::string text = element(offset);
      return std::string(width_ - text.size(), ' ') + text;
    }
    const bool is_last = dim + 1 == values_.dim();
    const std::string gap = is_last ? ", " : ",\n" + std::string(static_cast<std::size_t>(dim + 1), ' ');
    std::string out = "[";
    for (std::int64_t i = 0; i < values_.size(dim); ++i) {
      if (i > 0) out += gap;
      if (i == kEdge && is_cut_[static_cast<std::size_t>(dim)]) out += "..." + gap;
      out += write(dim + 1, offset + i * values_.stride(dim));
    }
    return out + ']';
  }

  at::Tensor values_;
  std::vector<bool> is_cut_;
  bool is_whole_;
  std::size_t width_ = 0;
};

at::Tensor taken(const at::Tensor& tensor, const std::string& slice) {
  at::Tensor out = tensor.detach();
  std::int64_t dim = 0;
  for (const Selection& selection : parse_slice(slice, tensor.sizes().vec())) {
    if (selection.is_index) {
      out = out.select(dim, selection.first);
    } else {
      // Of one index or none the step does not matter, and it may be so large that sums with it overflow.
      const std::int64_t step = selection.count > 1 ? selection.step : 1;
      const std::int64_t end =
          selection.count > 0 ? selection.first + (selection.count - 1) * step + 1 : selection.first;
      out = out.slice(dim++, selection.first, end, step);
    }
  }
  return out;
}

}  // namespace

std::string elements_text(const at::Tensor& tensor, const std::string& slice) {
  const at::NoGradGuard no_grad;
  if (const std::string why = nothing_to_read(tensor); !why.empty()) return sdk::concat("  ", why, '\n');
  const at::Tensor part = taken(tensor, slice);
  if (part.numel() == 0) return sdk::concat("  no elements: ", list_text(part.sizes()), '\n');
  return ElementsWriter(edges_of(part), is_whole(tensor)).text();
}

}  // namespace titan::observability
