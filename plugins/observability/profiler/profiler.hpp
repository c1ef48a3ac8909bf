#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/observability/profiler/backward_lane.hpp"
#include "plugins/observability/profiler/kineto.hpp"
#include "plugins/observability/profiler/module_scopes.hpp"
#include "plugins/observability/profiler/schedule.hpp"
#include "plugins/observability/profiler/timeline.hpp"
#include "plugins/observability/tool.hpp"
#include "titan/abi/memory.h"

namespace titan::observability {

/// Records steps by torchtitan's schedule, and writes a Chrome trace of each recording: libtorch's operators, the
/// modules they run for, phases, collectives and memory. libtorch records for the whole process, so a process has one.
class Profiler : public Tool, ModuleScopes::Listener {
 public:
  static void describe(sdk::Describe& declare);
  /// ConfigError for numbers that do not fit together, and where the process has a profiler already.
  static ToolPointer make(sdk::Host host);

  explicit Profiler(sdk::Host host);
  ~Profiler() override;

  std::uint32_t events() const override {
    return TITAN_EVENT_RUN_BEGIN | TITAN_EVENT_SPAN | TITAN_EVENT_COLLECTIVE | TITAN_EVENT_RUN_END;
  }
  std::uint32_t duties() const override { return TITAN_DUTY_ATTACH; }

  void run_begin(const titan_run_event& event) override;
  void span(const titan_span_event& event) override;
  void collective(const titan_collective_event& event) override;
  void run_end(const titan_run_end_event& event) override;
  void attach(const sdk::GuardHandles& handles) override;

 private:
  /// A process has one at a time.
  class Claim {
   public:
    Claim();
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
  };

  void module_edge() override { sample_memory(); }
  void begin_step(std::int64_t step);
  void go_to(ProfilerAction action);
  void start();
  void stop_and_save();
  void save();
  void begin_phase(const titan_span_event& event);
  void end_phase(const titan_span_event& event);
  void sample_memory();

  sdk::Host host_;
  Claim claim_;
  ProfilerSchedule schedule_;
  std::filesystem::path folder_;
  const titan_memory_v1* memory_;
  Timeline timeline_;
  std::shared_ptr<ModuleScopes> modules_;
  std::optional<Kineto> kineto_;
  std::optional<BackwardLane> backward_;
  ProfilerAction action_ = ProfilerAction::none;
  std::int64_t first_recorded_ = 0, step_ = 0;
  double recorded_since_ = 0;
  std::vector<titan_span_event> phases_;  // that have begun
  std::int32_t device_ = TITAN_DEVICE_CPU;
};

}  // namespace titan::observability
