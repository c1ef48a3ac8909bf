#include "core/train/torch_warnings.hpp"

#include <string_view>

#include "core/base/log.hpp"

namespace titan::train {

void TorchWarningsToLog::Handler::process(const c10::Warning& warning) {
  // One line: what follows the first is a stack of addresses.
  const std::string_view text = warning.msg();
  log_warning("libtorch", text.substr(0, text.find('\n')));
}

}  // namespace titan::train
