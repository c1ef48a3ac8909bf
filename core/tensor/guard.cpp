#include "core/tensor/guard.hpp"

#include "core/base/plugin_call.hpp"
#include "titan/torch/error.hpp"

namespace titan::tensor {

void rethrow_torch_error(std::string_view where) {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw ResourceError(where, error.what_without_backtrace());
  } catch (const c10::DistError& error) {
    throw PeerError(where, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    if (const auto code = strategy::backward_error_code(error)) {
      throw_abi_error(*code, concat(where, error.what_without_backtrace()));
    }
    throw PluginError(where, error.what_without_backtrace());
  }
}

}  // namespace titan::tensor
