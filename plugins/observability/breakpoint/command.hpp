#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "titan/sdk/text.hpp"

namespace titan::observability {

/// What is wrong with a command, for who typed it; the prompt goes on.
class CommandError : public std::runtime_error {
 public:
  template <class... Parts>
  explicit CommandError(const Parts&... parts) : std::runtime_error(sdk::concat(parts...)) {}
};

enum class Verb { none, where, module, stats, print, grad, step, go_on, quit, help };

/// A line at the prompt: "print layers.2.attention.wq.weight [0, :4]".
struct Command {
  Verb verb = Verb::none;  // none: an empty line
  std::string name;        // of a module or tensor; may be empty
  std::string slice;
};

/// CommandError names commands that are spelled alike.
Command parse_command(std::string_view line);

/// What the commands are, lines.
std::string help_text();

}  // namespace titan::observability
