#include "plugins/observability/memory/cpp_stacks.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <torch/csrc/profiler/unwind/unwind.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string_view>

namespace titan::observability {
namespace {

constexpr std::size_t kDeepest = 64;

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

/// Calls `look` with the names of the functions of the calling thread's stack, innermost first, until it is content.
template <class Look>
void for_each_function(const Look& look) {
  std::array<void*, 256> addresses;
  const int count = ::backtrace(addresses.data(), static_cast<int>(addresses.size()));
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (::dladdr(addresses[static_cast<std::size_t>(i)], &info) == 0 || info.dli_sname == nullptr) continue;
    if (look(std::string_view(demangled(info.dli_sname)))) return;
  }
}

/// What stands between `begin` and `end` in a text that begins so; empty where it does not.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  if (!text.starts_with(begin)) return {};
  text.remove_prefix(begin.size());
  const std::size_t length = text.find(end);
  return length == std::string_view::npos ? std::string_view() : text.substr(0, length);
}

std::vector<torch::unwind::Frame> named(const std::vector<void*>& addresses) {
  try {
    return torch::unwind::symbolize(addresses, torch::unwind::Mode::fast);
  } catch (const std::exception&) {
    return torch::unwind::symbolize(addresses, torch::unwind::Mode::dladdr);
  }
}

}  // namespace

std::vector<void*> unwind_here() {
  try {
    std::vector<void*> stack = torch::unwind::unwind();
    if (stack.size() > kDeepest) stack.resize(kDeepest);
    return stack;
  } catch (const std::exception&) {
    return {};
  }
}

std::vector<StackFrame> symbolize(const std::vector<void*>& addresses) {
  std::vector<StackFrame> frames;
  for (const torch::unwind::Frame& frame : named(addresses)) {
    frames.push_back({frame.funcname, frame.filename, static_cast<std::int64_t>(frame.lineno)});
  }
  return frames;
}

std::string operator_on_stack() {
  std::string found;
  for_each_function([&](std::string_view function) {
    std::string_view op = between(function, "at::_ops::", "::call(");
    if (op.empty()) op = between(function, "at::_ops::", "::redispatch(");
    if (op.empty()) return false;
    const bool makes_a_tensor = op.starts_with("empty");
    if (found.empty() || !makes_a_tensor) found = std::string("aten::").append(op);
    return !makes_a_tensor;
  });
  return found;
}

std::string node_on_stack() {
  std::string found;
  for_each_function([&](std::string_view function) {
    found = between(function, "torch::autograd::generated::", "::apply(");
    return !found.empty();
  });
  return found;
}

}  // namespace titan::observability
