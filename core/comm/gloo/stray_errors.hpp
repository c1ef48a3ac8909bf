#pragma once

#include <memory>

#include "core/comm/processes/pending_works.hpp"

namespace titan::comm {

/// Where what comes in does not fit the call that waits for it, gloo throws on a thread of its own, and the process
/// would end without a word. While an object of this class lives, that thread stays where it is for ever instead, and
/// the calls under way fail with gloo's text: the training thread finds out what was wrong.
class StrayErrors {
 public:
  explicit StrayErrors(std::shared_ptr<PendingWorks> works);
  ~StrayErrors();
  StrayErrors(const StrayErrors&) = delete;
  StrayErrors& operator=(const StrayErrors&) = delete;

 private:
  std::shared_ptr<PendingWorks> works_;
};

}  // namespace titan::comm
