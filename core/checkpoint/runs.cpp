#include "core/checkpoint/runs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace titan::checkpoint {

namespace {

std::uint64_t u(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Steps an index over the dims, the innermost first. Returns the dim that moved, or dims.size() after the last index.
std::size_t step(const std::vector<Runs::Dim>& dims, std::vector<std::uint64_t>& at) {
  for (std::size_t dim = dims.size(); dim-- > 0;) {
    if (++at[dim] < dims[dim].count) return dim;
    at[dim] = 0;
  }
  return dims.size();
}

}  // namespace

std::optional<Box> intersection(const Box& a, const Box& b) {
  Box common = a;
  for (std::size_t dim = 0; dim < a.size.size(); ++dim) {
    const std::int64_t begin = std::max(a.offset[dim], b.offset[dim]);
    const std::int64_t end = std::min(a.offset[dim] + a.size[dim], b.offset[dim] + b.size[dim]);
    if (begin >= end) return std::nullopt;
    common.offset[dim] = begin;
    common.size[dim] = end - begin;
  }
  return common;
}

std::uint64_t Runs::from_end() const {
  std::uint64_t end = from + length;
  for (const Dim& dim : dims) end += (dim.count - 1) * dim.from_stride;
  return end;
}

Runs runs_of(const Box& from, const Box& to, const Box& common) {
  Runs runs;
  std::uint64_t from_stride = 1, to_stride = 1;
  bool is_contiguous = true;  // everything inside the dim at hand is one run
  for (std::size_t dim = common.size.size(); dim-- > 0;) {
    const std::uint64_t count = u(common.size[dim]);
    runs.from += u(common.offset[dim] - from.offset[dim]) * from_stride;
    runs.to += u(common.offset[dim] - to.offset[dim]) * to_stride;
    if (is_contiguous) {
      runs.length *= count;
    } else if (count > 1) {
      runs.dims.push_back({count, from_stride, to_stride});
    }
    is_contiguous = is_contiguous && common.size[dim] == from.size[dim] && common.size[dim] == to.size[dim];
    from_stride *= u(from.size[dim]);
    to_stride *= u(to.size[dim]);
  }
  std::reverse(runs.dims.begin(), runs.dims.end());
  return runs;
}

std::vector<FileRange> ranges_of(const Runs& runs, std::uint64_t begin, std::size_t element_size, std::uint64_t gap) {
  std::vector<Runs::Dim> dims = runs.dims;
  std::uint64_t length = runs.length;
  while (!dims.empty() && (dims.back().from_stride - length) * element_size < gap) {
    length += (dims.back().count - 1) * dims.back().from_stride;
    dims.pop_back();
  }
  std::vector<FileRange> ranges;
  std::vector<std::uint64_t> at(dims.size(), 0);
  do {
    std::uint64_t first = runs.from;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) first += at[dim] * dims[dim].from_stride;
    ranges.push_back({begin + first * element_size, begin + (first + length) * element_size});
  } while (step(dims, at) < dims.size());
  return ranges;
}

RunCopier::RunCopier(Runs runs, std::uint64_t begin, DType stored, std::byte* to, DType wanted)
    : runs_(std::move(runs)),
      stored_(stored),
      wanted_(wanted),
      stored_size_(element_size(stored)),
      wanted_size_(element_size(wanted)),
      position_(begin + runs_.from * stored_size_),
      to_(to + runs_.to * wanted_size_),
      at_(runs_.dims.size(), 0) {}

void RunCopier::copy(std::uint64_t begin, std::span<const std::byte> bytes) {
  const std::uint64_t end = begin + bytes.size(), run = runs_.length * stored_size_;
  while (!is_done_ && position_ + taken_ < end) {
    const std::uint64_t from = position_ + taken_;
    TITAN_CHECK(from >= begin, "bytes of a tensor were left out: ", from, " before ", begin);
    const std::uint64_t size = std::min(run - taken_, end - from);
    take(bytes.subspan(from - begin, size));
    taken_ += size;
    if (taken_ == run) next_run();
  }
}

void RunCopier::take(std::span<const std::byte> bytes) {
  if (stored_ == wanted_) {
    std::memcpy(to_ + taken_, bytes.data(), bytes.size());
  } else {
    convert_some(bytes);
  }
}

void RunCopier::convert_some(std::span<const std::byte> bytes) {
  std::uint64_t element = taken_ / stored_size_;
  if (const std::uint64_t had = taken_ % stored_size_; had != 0) {
    const std::uint64_t rest = std::min<std::uint64_t>(stored_size_ - had, bytes.size());
    std::memcpy(cut_.data() + had, bytes.data(), rest);
    bytes = bytes.subspan(rest);
    if (had + rest < stored_size_) return;
    convert(std::span(cut_).first(stored_size_), stored_, {to_ + element * wanted_size_, wanted_size_}, wanted_);
    ++element;
  }
  const std::uint64_t count = bytes.size() / stored_size_;
  convert(bytes.first(count * stored_size_), stored_, {to_ + element * wanted_size_, count * wanted_size_}, wanted_);
  const std::span<const std::byte> rest = bytes.subspan(count * stored_size_);
  std::copy(rest.begin(), rest.end(), cut_.begin());
}

void RunCopier::next_run() {
  taken_ = 0;
  const std::size_t moved = step(runs_.dims, at_);
  is_done_ = moved == runs_.dims.size();
  if (is_done_) return;
  std::uint64_t from = runs_.dims[moved].from_stride, to = runs_.dims[moved].to_stride;
  for (std::size_t dim = moved + 1; dim < runs_.dims.size(); ++dim) {  // these went back to their begin
    from -= (runs_.dims[dim].count - 1) * runs_.dims[dim].from_stride;
    to -= (runs_.dims[dim].count - 1) * runs_.dims[dim].to_stride;
  }
  position_ += from * stored_size_;
  to_ += to * wanted_size_;
}

}  // namespace titan::checkpoint
