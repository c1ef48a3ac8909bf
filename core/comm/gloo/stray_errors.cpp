#include "core/comm/gloo/stray_errors.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <typeinfo>

#include "core/base/text.hpp"

namespace titan::comm {
namespace {

struct Listeners {
  std::mutex mutex;
  std::multiset<std::shared_ptr<PendingWorks>> works;
  std::terminate_handler before = nullptr;
};

/// Never destroyed: a thread may come here while the process ends.
Listeners& listeners() {
  static auto* const instance = new Listeners;
  return *instance;
}

/// What the exception being handled says, if it is one of gloo's.
std::string gloo_error() {
  const std::exception_ptr thrown = std::current_exception();
  if (thrown == nullptr) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    // Its types are not declared anywhere.
    const bool is_gloos = std::string_view(typeid(error).name()).find("4gloo") != std::string_view::npos;
    return is_gloos ? printable(error.what()) : std::string();
  } catch (...) {
    return {};
  }
}

bool tell(const std::string& text) {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  for (const auto& works : all.works) works->fail_pending(text);
  return !all.works.empty();
}

[[noreturn]] void on_terminate() {
  const std::string text = gloo_error();
  if (text.empty() || !tell(text)) {
    if (listeners().before != nullptr) listeners().before();
    std::abort();
  }
  // Calls may be made that the connections of this thread no longer carry.
  for (;; tell(text)) std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

StrayErrors::StrayErrors(std::shared_ptr<PendingWorks> works) : works_(std::move(works)) {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  if (all.works.empty()) all.before = std::set_terminate(on_terminate);
  all.works.insert(works_);
}

StrayErrors::~StrayErrors() {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  all.works.erase(all.works.find(works_));
  if (all.works.empty()) std::set_terminate(all.before);
}

}  // namespace titan::comm
