#include "core/plugin/dl_message.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/base/text.hpp"

namespace titan::plugin {
namespace {

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? std::string(text.get()) : symbol;
}

bool is_libtorch(std::string_view symbol) {
  return symbol.find("at::") != symbol.npos || symbol.find("c10::") != symbol.npos ||
         symbol.find("torch::") != symbol.npos || symbol.find("caffe2::") != symbol.npos;
}

LoadProblem missing_symbol(std::string_view file, std::string_view rest) {
  const std::string symbol = demangled(std::string(rest.substr(0, rest.find_first_of(", \t"))));
  const char* remedy = is_libtorch(symbol) ? "it was built for another libtorch: rebuild it against this titan's"
                                           : "link the library that defines it into the plugin, and rebuild";
  return {Exit::abi, concat("missing symbol ", symbol, " (needed by ", file, ")"), remedy};
}

LoadProblem missing_library(std::string_view library) {
  return {Exit::abi, concat("it needs the library ", library, ", which cannot be found"),
          "install that library, or add its folder to LD_LIBRARY_PATH or to the plugin's run path"};
}

}  // namespace

LoadProblem explain_dl_message(std::string_view message, const std::vector<std::string>& needed) {
  constexpr std::string_view kUndefined = ": undefined symbol: ";
  if (const auto at = message.find(kUndefined); at != message.npos) {
    return missing_symbol(message.substr(0, at), message.substr(at + kUndefined.size()));
  }
  const std::string_view subject = message.substr(0, message.find(": "));
  const bool is_needed = std::find(needed.begin(), needed.end(), subject) != needed.end();
  if (message.find("cannot open shared object file: No such file") != message.npos &&
      (is_needed || subject.find('/') == subject.npos)) {
    return missing_library(subject);
  }
  return {Exit::abi, concat("the system cannot open it: ", message), "build the plugin on this machine"};
}

}  // namespace titan::plugin
