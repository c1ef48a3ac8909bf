#pragma once

#include <c10/util/Exception.h>

namespace titan::train {

/// Sends libtorch's warnings of the calling thread to the log instead of standard error, for a scope.
class TorchWarningsToLog {
 public:
  TorchWarningsToLog() : guard_(&handler_) {}

 private:
  struct Handler final : c10::WarningHandler {
    void process(const c10::Warning& warning) override;
  };
  Handler handler_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace titan::train
