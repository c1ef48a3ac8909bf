#pragma once

#include <string>
#include <vector>

#include "core/config/engine.hpp"

namespace titan::train::tiny {

/// The part of a host table that calls into plugins need: errors.
const titan_host* error_host();

/// An observer that writes down what it is told, and fails at a chosen event.
class Recorder {
 public:
  explicit Recorder(std::uint32_t events = 15) { table_.events = events; }
  PluginInterface<titan_observer_v1> plugin(std::string name = "recorder");

  std::vector<std::string> seen;  // "run_begin", "step 1", "validation 1", "all_reduce of world", "run_end 0",
                                  // "span 5 begin", "dump 3: why"
  std::vector<titan_step_event> steps;
  std::vector<titan_validation_event> validations;
  titan_run_event begin{};
  std::string end_message;
  std::string fail_at;  // the entry of `seen` that is answered by an error

 private:
  titan_error* note(std::string what);
  static titan_error* on_begin(void* ctx, const titan_run_event* event);
  static titan_error* on_step(void* ctx, const titan_step_event* event);
  static titan_error* on_validation(void* ctx, const titan_validation_event* event);
  static titan_error* on_end(void* ctx, const titan_run_end_event* event);
  static titan_error* on_collective(void* ctx, const titan_collective_event* event);
  static titan_error* on_span(void* ctx, const titan_span_event* event);
  static titan_error* on_dump(void* ctx, const titan_dump_event* event);

  titan_observer_v1 table_{sizeof(titan_observer_v1),
                           0,
                           &on_begin,
                           &on_step,
                           &on_validation,
                           &on_end,
                           &on_collective,
                           &on_span,
                           &on_dump,
                           nullptr};
};

/// Collects the log's lines while it lives. One at a time in a process.
class LogLines {
 public:
  LogLines();
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  /// "warning [train] text" and so on.
  std::vector<std::string> lines() const;
  /// The lines that hold `text`.
  std::vector<std::string> with(const std::string& text) const;
};

}  // namespace titan::train::tiny
