#pragma once

#include <cstdint>
#include <filesystem>

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

  std::uint32_t events() const override { return TITAN_EVENT_DUMP; }
  /// On any thread. A file that cannot be written is a warning: what has gone wrong is worse.
  void dump(const titan_dump_event& event) override;

 private:
  void say(const titan_dump_event& event);

  sdk::Host host_;
  std::filesystem::path path_;
  bool dumps_at_exit_;
  std::int32_t said_cause_ = 0;  // of the dump that was last told of
};

}  // namespace titan::observability
