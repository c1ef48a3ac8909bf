#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// Writes down which calls of collectives a rank has made, and how far each came, in the form that PyTorch's fr_trace
/// reads: on a timeout, an error and a request always, at the end of the run where that is asked for. Recording itself
/// is the host's, and is always on.
class FlightRecorder : public Tool {
 public:
  static void describe(sdk::Describe& declare);
  static ToolPointer make(sdk::Host host) { return std::make_unique<FlightRecorder>(host); }

  explicit FlightRecorder(sdk::Host host);

  std::uint32_t events() const override { return TITAN_EVENT_RUN_BEGIN | TITAN_EVENT_DUMP; }
  /// Moves what an earlier run in the same folder left into the folder `earlier` there: beside the dumps of this run it
  /// would pass for one of them. Each rank moves its own, rank 0 those of ranks that this run does not have.
  void run_begin(const titan_run_event& event) override;
  /// On any thread. A file that cannot be written is a warning: what has gone wrong is worse.
  void dump(const titan_dump_event& event) override;

 private:
  void set_aside(std::int64_t rank);
  void say(const titan_dump_event& event);

  sdk::Host host_;
  std::string prefix_;
  std::filesystem::path path_;
  std::atomic<bool> has_dumped_ = false;
  bool dumps_at_exit_;
  std::int32_t said_cause_ = 0;  // of the dump that was last told of
};

}  // namespace titan::observability
