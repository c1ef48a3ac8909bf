#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/observability/breakpoint/break_spec.hpp"
#include "plugins/observability/breakpoint/rank_subject.hpp"
#include "plugins/observability/tool.hpp"
#include "titan/torch/interceptor.hpp"

namespace titan::observability {

/// Breaks into the run where debug.break_at says and where plugin code calls a breakpoint: a prompt on that rank's
/// terminal, while all other ranks wait. Where nobody can answer, one warning says so and the run goes on.
class Breakpoint : public Tool {
 public:
  static void describe(sdk::Describe& declare);
  static ToolPointer make(sdk::Host host) { return std::make_unique<Breakpoint>(host); }

  explicit Breakpoint(sdk::Host host);

  std::uint32_t events() const override { return specs_.empty() ? 0 : TITAN_EVENT_RUN_END; }
  std::uint32_t duties() const override { return TITAN_DUTY_ATTACH | TITAN_DUTY_STEP | TITAN_DUTY_BREAKPOINT; }
  void run_end(const titan_run_end_event& event) override;
  void attach(const sdk::GuardHandles& handles) override;
  void step_begin(std::int64_t step) override;
  void breakpoint(std::string_view label, const titan_string* names, const titan_tensor* tensors,
                  std::uint32_t num_tensors) override;

 private:
  /// A place of this rank.
  struct Place {
    BreakSpec spec;
    bool was_reached = false;
  };
  /// Whether it is to be broken into there, now; then not again.
  bool is_due(Place& place, std::int64_t step) const;
  std::int64_t step_now() const;
  void attach_to_module(Place& place, const strategy::Tree& tree);
  void enter(Place& place, const strategy::Frame& frame, strategy::Inputs in);
  void wait_for_backward(Place& place, const std::string& module, const strategy::Tensors& outputs);

  /// Stands still until somebody at the prompt goes on.
  void stop(std::string label, std::string module, NamedTensors tensors);
  void prompt(const ConsoleSource& source, const RankSubject& subject);
  void release_all_the_same() const;
  void pass_over(const RankSubject& subject, const std::string& why, const std::string& advice);
  [[noreturn]] void quit(const RankSubject& subject) const;

  sdk::Host host_;
  std::vector<BreakSpec> specs_;  // of all ranks
  std::vector<Place> places_;     // of this one; none is added once the tree holds references
  std::optional<sdk::GuardHandles> handles_;
  const titan_control_v1* control_ = nullptr;
  bool breaks_at_next_step_ = false;
  bool was_passed_over_ = false;
};

}  // namespace titan::observability
