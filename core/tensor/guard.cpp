#include "core/tensor/guard.hpp"

namespace titan::tensor {

void rethrow_torch_error(std::string_view where) {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw ResourceError(where, error.what_without_backtrace());
  } catch (const c10::DistError& error) {
    throw PeerError(where, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    throw PluginError(where, error.what_without_backtrace());
  }
}

}  // namespace titan::tensor
