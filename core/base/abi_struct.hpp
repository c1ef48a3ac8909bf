#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace titan {

/// Fills what the caller's growable struct has of `value`; its struct_size, set by the caller, stays. Null: nothing.
template <class Struct>
void fill_abi_struct(Struct* out, Struct value) {
  if (out == nullptr) return;
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, std::min<std::size_t>(out->struct_size, sizeof value));
}

}  // namespace titan
