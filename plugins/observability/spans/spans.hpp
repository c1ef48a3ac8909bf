#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/observability/line_file.hpp"
#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// Writes what a rank does and when to spans/rank_N.jsonl in the dump folder: phases, collectives, steps and events.
/// Rows are gathered and written about once a second, at a dump, and at the end.
class Spans : public Tool {
 public:
  static void describe(sdk::Describe& declare);
  static ToolPointer make(sdk::Host host);

  explicit Spans(sdk::Host host);
  /// Writes what is left, where the run ended before its first step too.
  ~Spans() override;

  std::uint32_t events() const override;
  void run_begin(const titan_run_event& event) override;
  void step_end(const titan_step_event& event) override;
  void validation(const titan_validation_event& event) override;
  void run_end(const titan_run_end_event& event) override;
  void collective(const titan_collective_event& event) override;
  void span(const titan_span_event& event) override;
  void left_out(std::int64_t step, std::string_view why) override;
  /// On any thread, as the rest of the rows are made: hence the lock.
  void dump(const titan_dump_event& event) override;

 private:
  void open(std::int64_t first_step);
  /// A step that ended without an update; how it is judged elsewhere is known only then.
  void add_skipped(const titan_step_event& event);
  void add(const std::string& row);
  /// Before the run begins nobody knows whether it continues another one, and rows wait; `whatever` writes them all
  /// the same, after what is there.
  void write(bool whatever = false);
  /// Writes the open phases as if they ended now, for the case that the process ends before they do.
  void write_open(double now);
  void give_up(const char* reason);

  sdk::Host host_;
  std::mutex mutex_;
  double offset_;  // from monotonic time to a date
  double last_write_ = 0;
  std::int64_t step_ = 0;
  std::int64_t left_out_step_ = 0;
  std::string why_left_out_;
  std::vector<titan_span_event> open_spans_;  // their begins
  std::string run_row_, rows_;                // to be written
  std::filesystem::path path_;
  std::optional<LineFile> file_;
  std::size_t num_provisional_ = 0;  // bytes at the end of the file that hold only as long as nothing follows
  bool is_begun_ = false, has_ended_ = false, gave_up_ = false;
};

}  // namespace titan::observability
