#include "core/train/dump_on_request.hpp"

#include <utility>

namespace titan::train {

DumpOnRequest::DumpOnRequest(Bell* requests, std::function<void()> dump) : requests_(requests), dump_(std::move(dump)) {
  if (requests_ == nullptr) return;
  thread_ = std::thread([this] {
    for (requests_->wait(); !ends_; requests_->wait()) dump_();
  });
}

DumpOnRequest::~DumpOnRequest() {
  if (requests_ == nullptr) return;
  ends_ = true;
  requests_->ring();
  thread_.join();
}

}  // namespace titan::train
