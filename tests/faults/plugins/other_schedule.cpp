#include <vector>

#include "titan/sdk/schedule.hpp"

namespace {

/// Has a schedule for pipelines beside the one of the parallel plugin.
class OtherSchedule {
 public:
  static constexpr titan::sdk::Identity kIdentity{
      .id = "org.titan.test.other_schedule", .name = "other_schedule", .version = "0.1.0", .license = "Apache-2.0"};

  static void describe(titan::sdk::Describe&) {}
  explicit OtherSchedule(titan::sdk::Host) {}

  std::string_view schedule_name() { return "other"; }
  std::vector<titan_stage> stages(const titan_schedule_request&, std::uint32_t) { return {}; }
  std::vector<titan_action> actions(const titan_schedule_request&, std::uint32_t) { return {}; }
};

}  // namespace

TITAN_PLUGIN(OtherSchedule, titan::sdk::ScheduleInterface);
