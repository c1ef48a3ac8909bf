#include "core/tensor/wide_products.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <memory>

namespace titan::tensor {
namespace {

constexpr std::int64_t kRows = 2048, kColumns = 1024, kDepth = 512;

/// Memory for a block of fp32. It stays with its thread, since fresh memory costs more than what it is for.
class Buffer {
 public:
  /// A matrix in it, laid out by rows, or by columns. It is valid until the next one.
  at::Tensor matrix(std::int64_t rows, std::int64_t columns, bool by_rows) {
    const std::int64_t size = rows * columns;
    if (size > size_) {
      memory_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(size));
      size_ = size;
    }
    if (by_rows) return at::from_blob(memory_.get(), {rows, columns}, at::kFloat);
    return at::from_blob(memory_.get(), {columns, rows}, at::kFloat).t();
  }

 private:
  std::unique_ptr<float[]> memory_;
  std::int64_t size_ = 0;
};

struct Range {
  std::int64_t begin, size;
};

Range range(std::int64_t begin, std::int64_t step, std::int64_t end) { return {begin, std::min(step, end - begin)}; }

at::Tensor part(const at::Tensor& matrix, const Range& rows, const Range& columns) {
  return matrix.narrow(0, rows.begin, rows.size).narrow(1, columns.begin, columns.size);
}

/// A block of an operand in fp32. It is only made anew where the last one was another.
class Operand {
 public:
  explicit Operand(const at::Tensor& matrix, Buffer& buffer) : matrix_(matrix), buffer_(buffer) {}
  const at::Tensor& block(const Range& rows, const Range& columns) {
    if (!wide_.defined() || rows.begin != row_ || columns.begin != column_) {
      wide_ = buffer_.matrix(rows.size, columns.size, matrix_.stride(1) == 1);
      wide_.copy_(part(matrix_, rows, columns));
      row_ = rows.begin;
      column_ = columns.begin;
    }
    return wide_;
  }

 private:
  const at::Tensor& matrix_;
  Buffer& buffer_;
  at::Tensor wide_;
  std::int64_t row_ = 0, column_ = 0;
};

}  // namespace

void multiply_wide(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, bool adds) {
  thread_local Buffer for_a, for_b, for_sum;
  const at::NoGradGuard no_grad;
  const at::DisableRecordFunctionGuard is_seen_as_one;
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  Operand left(a, for_a), right(b, for_b);
  for (std::int64_t column = 0; column < n; column += kColumns) {
    const Range columns = range(column, kColumns, n);
    for (std::int64_t row = 0; row < m; row += kRows) {
      const Range rows = range(row, kRows, m);
      at::Tensor sum = for_sum.matrix(rows.size, columns.size, /*by_rows=*/true), to = part(out, rows, columns);
      if (adds) sum.copy_(to);
      for (std::int64_t inner = 0; inner < k; inner += kDepth) {
        const Range depth = range(inner, kDepth, k);
        const at::Tensor &x = left.block(rows, depth), &y = right.block(depth, columns);
        if (adds || inner > 0) {
          at::cpu::addmm_(sum, x, y);
        } else {
          at::cpu::mm_out(sum, x, y);
        }
      }
      to.copy_(sum);
    }
  }
}

}  // namespace titan::tensor
