#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/checkpoint/team.hpp"
#include "core/train/ranks/ranks.hpp"

namespace titan::train {

/// The ranks of a run, for checkpoints. What they do stands in the records of its calls, and in the error of a lost
/// peer: "checkpoint.save".
class RankTeam final : public checkpoint::Team {
 public:
  explicit RankTeam(Ranks& ranks) : ranks_(ranks) {}

  std::int64_t rank() const override { return ranks_.rank(); }
  std::int64_t size() const override { return ranks_.mesh().world_size(); }
  std::vector<std::string> gather(const std::string& text) override;

  /// Names what the following calls are for.
  void set_activity(std::string activity) { activity_ = std::move(activity); }

 private:
  Ranks& ranks_;
  std::string activity_ = "checkpoint";
};

/// Says to work under way that nobody waits for it any more.
using Canceled = std::atomic<bool>;

/// Runs `work` on a thread of its own while this one meets the other ranks again and again: work of any length keeps no
/// deadline waiting, and a lost peer is seen. `act` names it: "reading step-4". A collective call. Throws on all ranks
/// what the first rank failed with. When a peer is lost `canceled` (may be null) is set, and the end of the work waited
/// for.
void work_together(checkpoint::Team& team, std::string_view act, const std::function<void()>& work,
                   Canceled* canceled = nullptr);

}  // namespace titan::train
