#include "core/train/dump_on_request.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"

namespace titan::train {

DumpOnRequest::DumpOnRequest(Bell* requests, std::function<void()> dump) : dump_(std::move(dump)) {
  if (requests == nullptr) return;
  requests_.emplace(*requests);
  thread_ = std::thread([this] {
    while (requests_->wait()) this->dump();
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
  if (!requests_) return;
  requests_->end();
  thread_.join();
}

}  // namespace titan::train
