#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/observability/memory/memory_watch.hpp"
#include "plugins/observability/memory/run_state.hpp"
#include "plugins/observability/memory/shortage.hpp"
#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// Says what took the memory when there is none left, in every run; and, where snapshots are switched on, records each
/// block and writes snapshots every so many steps and when memory is out.
class MemoryTool : public Tool, private MemoryWatch::Member {
 public:
  static void describe(sdk::Describe& declare);
  /// Null in runs without tensors.
  static ToolPointer make(sdk::Host host);

  explicit MemoryTool(sdk::Host host);
  ~MemoryTool() override;

  std::uint32_t events() const override { return snapshots_ ? TITAN_EVENT_STEP_END : 0; }
  std::uint32_t duties() const override { return TITAN_DUTY_ATTACH; }
  void attach(const sdk::GuardHandles& handles) override;
  void step_end(const titan_step_event& event) override;

 private:
  /// What profiler.enable_memory_snapshot switches on.
  struct Snapshots {
    std::filesystem::path folder;
    std::int64_t freq = 0;
    std::size_t max_entries = 0;
    bool stacks = false;
  };
  static std::optional<Snapshots> read_snapshots(const sdk::Config& config);

  void out_of_memory(const ShortageEvent& event) noexcept override;
  titan_place place() const noexcept override;
  /// Says in the log what is the matter.
  void report(const ShortageEvent& event);
  Shortage shortage_of(const ShortageEvent& event) const;
  LiveSet live_blocks(const Shortage& shortage, const StateBlocks& state) const;
  std::vector<std::string> ways_to_fit(const Shortage& shortage, const StateBlocks& state) const;
  void say_incomplete(std::string_view reason) const noexcept;
  /// Writes a snapshot and returns where. `report`: of which report of a shortage; 0: of none.
  std::filesystem::path write(std::int64_t step, std::int32_t phase, std::uint32_t report,
                              const StateBlocks& state) const;
  void say(std::int32_t level, std::string_view line) const;

  sdk::Host host_;
  std::optional<Snapshots> snapshots_;
  std::shared_ptr<MemoryWatch> watch_;
  std::optional<RunState> run_;  // from attach on
};

}  // namespace titan::observability
