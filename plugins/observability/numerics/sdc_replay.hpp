#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/observability/numerics/signature.hpp"
#include "plugins/observability/tool.hpp"

namespace titan::observability {

/// Looks for silent data corruption: runs the first pass of a step several times and compares, bit by bit, what each
/// run leaves. A difference on any rank stops all of them before the update.
class SdcReplay : public Tool {
 public:
  static void describe(sdk::Describe& declare);
  /// ConfigError for options that do not fit together.
  static ToolPointer make(sdk::Host host);

  explicit SdcReplay(sdk::Host host);

  std::uint32_t duties() const override { return TITAN_DUTY_ATTACH | TITAN_DUTY_AROUND | TITAN_DUTY_JUDGE; }
  void attach(const sdk::GuardHandles& handles) override { handles_ = handles; }
  void around(const titan_pass& pass) override;
  Judgement judge(const titan_outcome& outcome) override;

 private:
  bool is_due(const titan_pass& pass);
  Signature run(const titan_pass& pass) const;
  /// Whether any rank has seen a difference; a collective call.
  bool any_differs() const;
  /// Runs the pass twice more, and names the first operator of this rank that does not repeat itself.
  std::string cause(const titan_pass& pass) const;
  void compare(const Signature& first, const Signature& other, std::int64_t number);

  sdk::Host host_;
  std::int64_t num_steps_, num_replays_;
  std::int64_t steps_begun_ = 0;  // by this process
  std::optional<sdk::GuardHandles> handles_;
  std::string difference_;  // of this rank, in the step's pass
};

}  // namespace titan::observability
