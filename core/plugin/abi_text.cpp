#include "core/plugin/abi_text.hpp"

#include "core/base/text.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {

std::string copy_text(titan_string text, std::string_view what, std::uint64_t limit) {
  if (text.data == nullptr) return {};
  if (text.size > limit) {
    throw LoadProblem(Exit::internal, concat(what, " is too long: ", text.size, " bytes, the limit is ", limit),
                      "correct the plugin");
  }
  const std::string_view bytes = view(text);
  if (invalid_utf8_at(bytes) != bytes.npos) {
    throw LoadProblem(Exit::internal, concat(what, " is not UTF-8: ", bytes), "correct the plugin");
  }
  return std::string(bytes);
}

}  // namespace titan::plugin
