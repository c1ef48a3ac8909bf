#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/observability/line_file.hpp"
#include "plugins/observability/metrics/metrics_window.hpp"
#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// Prints a console line for each logged step and validation pass, and on rank 0 appends them to metrics.jsonl and
/// validation.jsonl in the dump folder. Callbacks run on the rank's training thread.
class Metrics : public Tool {
 public:
  static void describe(sdk::Describe& declare);
  static ToolPointer make(sdk::Host host) { return std::make_unique<Metrics>(host); }

  explicit Metrics(sdk::Host host);

  std::uint32_t events() const override {
    return TITAN_EVENT_RUN_BEGIN | TITAN_EVENT_STEP_END | TITAN_EVENT_VALIDATION | TITAN_EVENT_RUN_END;
  }
  void run_begin(const titan_run_event& event) override;
  void step_end(const titan_step_event& event) override;
  void validation(const titan_validation_event& event) override;
  void run_end(const titan_run_end_event& event) override;

 private:
  /// A file that stopped working is given up with one warning; the console goes on.
  struct Output {
    std::string name;
    std::optional<LineFile> file;
  };

  void open(Output& output, const titan_run_event& event);
  void write(Output& output, std::string_view line);
  void give_up(Output& output, const char* reason);

  sdk::Host host_;
  std::int64_t log_freq_;
  bool color_;
  RunFacts facts_;
  MetricsWindow window_{facts_};
  Output metrics_{"metrics.jsonl", {}};
  Output validations_{"validation.jsonl", {}};
};

}  // namespace titan::observability
