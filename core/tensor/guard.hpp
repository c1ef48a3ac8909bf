#pragma once

#include <c10/util/Exception.h>

#include <utility>

#include "core/base/abi_error.hpp"

namespace titan::tensor {

/// Throws the titan::Error that the exception being handled stands for: libtorch's out of memory is a ResourceError,
/// a lost peer a PeerError, its other errors are PluginErrors without their backtrace; anything else is thrown on as it
/// is. `where` is put in front: "[layers.0.attention] ". Call inside a catch block.
[[noreturn]] void rethrow_torch_error(std::string_view where = {});

/// Runs `body` for a function of an engine table: every exception becomes the titan_error it stands for.
template <class Body>
titan_error* guarded(Body&& body) noexcept {
  return abi_guard([&] {
    try {
      std::forward<Body>(body)();
    } catch (const c10::Error&) {
      rethrow_torch_error();
    }
  });
}

}  // namespace titan::tensor
