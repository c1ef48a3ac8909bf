#pragma once

namespace titan {

/// What plugin code the calling thread is in, for the fatal-signal handler. Texts outlive the process's plugins.
struct Breadcrumb {
  const char* plugin = nullptr;
  const char* callback = nullptr;
};
using BreadcrumbSource = Breadcrumb* (*)();

/// The calling thread's breadcrumb. The host owns it; the engine reads the host's through its source.
Breadcrumb& breadcrumb();
/// Makes this library use another library's breadcrumbs.
void set_breadcrumb_source(BreadcrumbSource source);

/// Sets the breadcrumb for a scope and restores the previous one.
class BreadcrumbScope {
 public:
  BreadcrumbScope(const char* plugin, const char* callback) : saved_(breadcrumb()) {
    breadcrumb() = {plugin, callback};
  }
  ~BreadcrumbScope() { breadcrumb() = saved_; }
  BreadcrumbScope(const BreadcrumbScope&) = delete;
  BreadcrumbScope& operator=(const BreadcrumbScope&) = delete;

 private:
  Breadcrumb saved_;
};

}  // namespace titan
