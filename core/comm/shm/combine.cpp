#include "core/comm/shm/combine.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/from_blob.h>

#include "core/comm/reduction.hpp"
#include "core/comm/shm/sum_kernel.hpp"

namespace titan::comm::shm {
namespace {

template <class T>
void sum_as(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t n) {
  sum_parts(reinterpret_cast<T*>(out), reinterpret_cast<const T* const*>(in.data()),
            static_cast<std::int64_t>(in.size()), n);
}

/// Whatever has no loop of its own.
void combine_by_operators(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t n, at::ScalarType dtype,
                          Reduce op) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<at::Tensor> parts;
  for (const std::byte* part : in) parts.push_back(at::from_blob(const_cast<std::byte*>(part), {n}, dtype));
  at::from_blob(out, {n}, dtype).copy_(reduced(parts, op));
}

}  // namespace

void combine(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t n, at::ScalarType dtype, Reduce op) {
  if (op != Reduce::sum) return combine_by_operators(out, in, n, dtype, op);
  switch (dtype) {
    case at::kFloat:
      return sum_as<float>(out, in, n);
    case at::kDouble:
      return sum_as<double>(out, in, n);
    case at::kLong:
      return sum_as<std::int64_t>(out, in, n);
    case at::kInt:
      return sum_as<std::int32_t>(out, in, n);
    case at::kBFloat16:
      return sum_as<c10::BFloat16>(out, in, n);
    case at::kHalf:
      return sum_as<c10::Half>(out, in, n);
    default:
      return combine_by_operators(out, in, n, dtype, op);
  }
}

}  // namespace titan::comm::shm
