#include "core/rehearsal/estimate.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/rehearsal/agents.hpp"
#include "core/rehearsal/formulas.hpp"
#include "core/rehearsal/simulation.hpp"
#include "core/rehearsal/transfer_costs.hpp"

namespace titan::rehearsal {
namespace {

/// Places the spans of a rank on the clock of its run.
class SpanClock {
 public:
  SpanClock(const RehearsedRank& rank, const AgentRun& run, double seconds_per_flop)
      : rank_(rank), run_(run), seconds_per_flop_(seconds_per_flop) {}

  TimedSpan place(std::size_t index) const {
    const RehearsedSpan& span = rank_.spans[index];
    TimedSpan timed{index, at(span.first_event, span.first_flops), at(span.last_event, span.last_flops), 0, 0};
    auto first = std::ranges::lower_bound(run_.waits, span.first_event, {}, &TimedWait::event);
    auto last = std::ranges::lower_bound(run_.waits, span.last_event, {}, &TimedWait::event);
    if (span.last_flops > span.first_flops) {
      for (auto wait = first; wait != last && flops_at(*wait) <= span.first_flops; ++wait) {
        if (wait->idle == 0) continue;
        timed.begin = run_.passed[wait->event];
        first = wait + 1;
      }
      for (auto wait = last; wait != first && flops_at(*(wait - 1)) >= span.last_flops; --wait) {
        const TimedWait& before = *(wait - 1);
        if (before.idle == 0) continue;
        timed.end = run_.passed[before.event] - before.idle - before.exposed;
        last = wait - 1;
      }
    }
    for (auto wait = first; wait != last; ++wait) {
      timed.idle += wait->idle;
      timed.exposed += wait->exposed;
    }
    return timed;
  }

 private:
  /// When the rank has left the events before `event` and done that many FLOPs.
  double at(std::size_t event, double flops) const {
    const std::size_t first = rank_.first_of_step;
    const double before = event <= first ? 0 : run_.passed[event - 1];
    const double done = event <= first ? rank_.flops_before_step : rank_.events[event - 1].flops;
    return before + std::max(0.0, flops - done) * seconds_per_flop_;
  }

  double flops_at(const TimedWait& wait) const { return rank_.events[wait.event].flops; }

  const RehearsedRank& rank_;
  const AgentRun& run_;
  double seconds_per_flop_;
};

RankTime time_of(const RehearsedRank& rank, const AgentRun& run, double seconds_per_flop, double step) {
  RankTime time;
  time.rank = rank.rank;
  time.compute = (rank.flops - rank.flops_before_step) * seconds_per_flop;
  for (const TimedWait& wait : run.waits) {
    time.exposed += wait.exposed;
    time.idle += wait.idle;
  }
  time.idle += step - run.now;
  time.communicated = run.communicated;
  time.end = run.now;
  return time;
}

class Estimator {
 public:
  Estimator(const Layout& layout, const Hardware& hardware)
      : layout_(layout),
        hardware_(hardware),
        agents_(layout, link_features(layout, hardware.gpus_per_node)),
        costs_(layout, agents_, hardware),
        seconds_per_flop_(1 / (hardware.peak_flops * hardware.compute_efficiency)),
        simulation_(layout, agents_, schedule::SendRule::rendezvous,
                    {seconds_per_flop_,
                     [this](std::size_t agent, std::uint32_t call) { return costs_.seconds(agent, call); }}) {}

  std::optional<Estimate> run(const Workload& workload) {
    if (!simulation_.run()) return std::nullopt;
    for (const AgentRun& run : simulation_.runs()) found_.step_seconds = std::max(found_.step_seconds, run.now);
    list_ranks();
    add_means();
    add_rates(workload);
    found_.is_partial = !layout_.is_whole();
    found_.formulas = formulas(hardware_);
    return std::move(found_);
  }

 private:
  void list_ranks() {
    std::vector<std::size_t> slowest(layout_.ranks().size(), agents_.all().size());
    for (std::size_t agent = 0; agent < agents_.all().size(); ++agent) {
      std::size_t& chosen = slowest[agents_.all()[agent].rehearsed];
      const bool is_first = chosen == agents_.all().size();
      if (is_first || simulation_.runs()[agent].now > simulation_.runs()[chosen].now) chosen = agent;
    }
    for (std::size_t i = 0; i < slowest.size(); ++i) {
      const RehearsedRank& rank = layout_.ranks()[i];
      const AgentRun& run = simulation_.runs()[slowest[i]];
      found_.ranks.push_back(time_of(rank, run, seconds_per_flop_, found_.step_seconds));
      const SpanClock clock(rank, run, seconds_per_flop_);
      for (std::size_t span = 0; span < rank.spans.size(); ++span) {
        found_.ranks.back().spans.push_back(clock.place(span));
      }
    }
  }

  void add_means() {
    double idle = 0, exposed = 0, all = 0;
    for (std::size_t agent = 0; agent < agents_.all().size(); ++agent) {
      const RehearsedRank& rank = layout_.ranks()[agents_.all()[agent].rehearsed];
      const RankTime time = time_of(rank, simulation_.runs()[agent], seconds_per_flop_, found_.step_seconds);
      const auto count = static_cast<double>(agents_.all()[agent].num_ranks);
      idle += time.idle * count;
      exposed += time.exposed * count;
      all += found_.step_seconds * count;
      flops_ += (rank.flops - rank.flops_before_step) * count;
      num_ranks_ += count;
    }
    if (all == 0) return;
    found_.mean_idle_share = idle / all;
    found_.mean_exposed_share = exposed / all;
    found_.hardware_utilisation = flops_ / (found_.step_seconds * num_ranks_ * hardware_.peak_flops);
  }

  void add_rates(const Workload& workload) {
    if (workload.tokens <= 0 || found_.step_seconds == 0) return;
    const double rate = static_cast<double>(workload.tokens) / found_.step_seconds;
    found_.tokens_per_second = rate;
    if (workload.model_flops_per_token <= 0) return;
    const auto world = static_cast<double>(layout_.mesh().world_size());
    found_.model_utilisation = rate * workload.model_flops_per_token / (world * hardware_.peak_flops);
  }

  const Layout& layout_;
  const Hardware& hardware_;
  Agents agents_;
  TransferCosts costs_;
  double seconds_per_flop_;
  Simulation simulation_;
  double flops_ = 0, num_ranks_ = 0;
  Estimate found_;
};

}  // namespace

std::optional<Estimate> estimate(const RehearsalReport& report, const config::Mesh& mesh, const Hardware& hardware,
                                 const Workload& workload) {
  const Layout layout(report, mesh);
  return Estimator(layout, hardware).run(workload);
}

}  // namespace titan::rehearsal
