#include "core/train/dump_on_request.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"

namespace titan::train {

DumpOnRequest::DumpOnRequest(Bell* requests, std::function<void()> dump) : requests_(requests), dump_(std::move(dump)) {
  if (requests_ == nullptr) return;
  thread_ = std::thread([this] {
    for (requests_->wait(); !ends_; requests_->wait()) this->dump();
  });
}

void DumpOnRequest::dump() const noexcept {
  try {
    dump_();
  } catch (const std::exception& error) {
    // A healthy run does not end because somebody looked at it.
    log(LogLevel::warning, "train", error.what());
  }
}

DumpOnRequest::~DumpOnRequest() {
  if (requests_ == nullptr) return;
  ends_ = true;
  requests_->ring();
  thread_.join();
}

}  // namespace titan::train
