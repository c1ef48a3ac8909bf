#include "core/train/ending.hpp"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/comm/description.hpp"
#include "titan/abi/base.h"
#include "titan/torch/error.hpp"

namespace titan::train {
Ending ending_of(const std::exception_ptr& failure) {
  try {
    try {
      std::rethrow_exception(failure);
    } catch (...) {
      rethrow_for_host();
    }
  } catch (const Error& error) {
    return {static_cast<std::int32_t>(error.exit()), error.what()};
  } catch (const Interrupted& interruption) {
    return {128 + interruption.signal(), interruption.what()};
  } catch (const std::exception& error) {
    return {TITAN_ERROR_INTERNAL, error.what()};
  } catch (...) {
    return {TITAN_ERROR_INTERNAL, "an exception of an unknown type"};
  }
}

void rethrow_for_host() {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    const std::string_view text = error.what_without_backtrace();
    if (text.starts_with("[memory] ")) throw ResourceError(text);  // our own allocator
    throw ResourceError("[train] out of memory: ", text);
  } catch (const c10::DistError& error) {  // what strategies throw inside of backward when a peer is lost
    throw PeerError(error.what_without_backtrace());
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    if (const auto code = strategy::backward_error_code(error)) throw_abi_error(*code, std::string(text));
    if (comm::is_out_of_memory()) throw ResourceError("[train] out of memory: ", text);
    throw InternalError("[libtorch] ", text);
  } catch (const std::bad_alloc&) {
    throw ResourceError("[train] out of memory: use smaller micro-batches or a smaller model");
  }
}

}  // namespace titan::train
