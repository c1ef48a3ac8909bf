#pragma once

#include <string>

#include "plugins/observability/breakpoint/console.hpp"

namespace titan::observability {

/// What a prompt is asked about: a rank that stands still. The texts end with a newline; CommandError for a name that
/// means nothing.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::string where() const = 0;
  /// `name` may be empty.
  virtual std::string module(const std::string& name) const = 0;
  virtual std::string stats(const std::string& name) const = 0;
  virtual std::string print(const std::string& name, const std::string& slice) const = 0;
  virtual std::string grad(const std::string& name, const std::string& slice) const = 0;
};

/// How somebody left it. `leave`: nobody did, a signal wants the run to end in its own way.
enum class PromptEnd { go_on, step, quit, leave };

/// Answers commands until one of them ends it. `sign` stands in front of each: "rank 1> ".
PromptEnd run_prompt(Console& console, const Subject& subject, const std::string& sign);

}  // namespace titan::observability
