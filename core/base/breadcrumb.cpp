#include "core/base/breadcrumb.hpp"

#include <atomic>

namespace titan {

namespace {

Breadcrumb* own_breadcrumb() {
  thread_local Breadcrumb instance;
  return &instance;
}

std::atomic<BreadcrumbSource>& source() {
  static std::atomic<BreadcrumbSource> instance{&own_breadcrumb};
  return instance;
}

}  // namespace

Breadcrumb& breadcrumb() { return *source().load(std::memory_order_relaxed)(); }

void set_breadcrumb_source(BreadcrumbSource new_source) {
  source().store(new_source != nullptr ? new_source : &own_breadcrumb, std::memory_order_relaxed);
}

}  // namespace titan
