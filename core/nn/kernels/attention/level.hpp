#pragma once

// The entries of one level. A level's file includes this alone.
#include "core/nn/kernels/attention/backward.hpp"
#include "core/nn/kernels/attention/forward.hpp"

namespace titan::nn::kernels {
namespace {

/// Calls body.template operator()<T, Operands>().
template <template <class, class, std::int64_t> class Direction, std::int64_t kDim, class Body>
TITAN_SIMD auto with_types(const Attention& attention, const Body& body) {
#ifdef TITAN_SIMD_PAIRS
  if (attention.is_bfloat16) return body(static_cast<Direction<std::uint16_t, Pairs, kDim>*>(nullptr));
#else
  if (attention.is_bfloat16) return body(static_cast<Direction<std::uint16_t, Singles, kDim>*>(nullptr));
#endif
  return body(static_cast<Direction<float, Singles, kDim>*>(nullptr));
}

/// Calls body with a null pointer to the class that does the task. The usual head dims have code of their own.
template <template <class, class, std::int64_t> class Direction, class Body>
TITAN_SIMD auto dispatch(const Attention& attention, const Body& body) {
  switch (attention.head_dim) {
    case 16:
      return with_types<Direction, 16>(attention, body);
    case 64:
      return with_types<Direction, 64>(attention, body);
    case 128:
      return with_types<Direction, 128>(attention, body);
    default:
      return with_types<Direction, 0>(attention, body);
  }
}

template <template <class, class, std::int64_t> class Direction>
void run_task(const Attention& attention, const AttentionTask& task, std::byte* workspace) {
  dispatch<Direction>(attention, [&](auto* direction) {
    std::remove_pointer_t<decltype(direction)>(attention, task, Space(workspace)).run();
    return 0;
  });
}

std::int64_t workspace_size(const Attention& attention, std::int64_t num_keys) {
  const auto size = [&](auto* direction) { return direction->space_for(attention, num_keys); };
  const std::int64_t forward = dispatch<Forward>(attention, size), backward = dispatch<Backward>(attention, size);
  return round_up((forward > backward ? forward : backward) * static_cast<std::int64_t>(sizeof(float)), 64);
}

constexpr AttentionLevel make_level(std::string_view name) {
  return {name, workspace_size, run_task<Forward>, run_task<Backward>};
}

}  // namespace
}  // namespace titan::nn::kernels
