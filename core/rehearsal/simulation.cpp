#include "core/rehearsal/simulation.hpp"

#include <algorithm>

namespace titan::rehearsal {

Simulation::Simulation(const Layout& layout, const Agents& agents, schedule::SendRule rule, Costs costs)
    : layout_(layout),
      agents_(agents),
      rule_(rule),
      costs_(std::move(costs)),
      is_timed_(costs_.seconds_per_flop > 0 || costs_.transfer),
      runs_(agents.all().size()),
      states_(agents.all().size()) {
  make_collectives();
  make_pairs();
}

void Simulation::make_collectives() {
  std::vector<std::vector<std::size_t>> lines(layout_.kinds().size());
  for (std::uint32_t kind = 0; kind < lines.size(); ++kind) {
    for (const Meeting& meeting : agents_.meetings(kind)) {
      std::vector<std::int32_t> known = meeting.colors;
      std::erase(known, kNobody);
      lines[kind].push_back(collectives_.size());
      collectives_.emplace_back(std::move(known));
    }
  }
  for (std::size_t agent = 0; agent < states_.size(); ++agent) {
    for (std::uint32_t kind = 0; kind < lines.size(); ++kind) {
      states_[agent].collectives.push_back(lines[kind][agents_.meeting_of(agents_.all()[agent].first_rank, kind)]);
    }
  }
  sleepers_.resize(collectives_.size());
}

void Simulation::make_pairs() {
  for (std::size_t agent = 0; agent < states_.size(); ++agent) {
    for (const Route& route : agents_.routes(agents_.all()[agent].rehearsed)) pair_of(agent, route);
  }
}

std::size_t Simulation::pair_of(std::size_t agent, const Route& route) {
  const auto known = states_[agent].pairs.find(route);
  if (known != states_[agent].pairs.end()) return known->second;
  const std::size_t index = pairs_.size();
  states_[agent].pairs.emplace(route, index);
  const std::int32_t peer = agents_.peer(agent, route);
  Pair& made = pairs_.emplace_back();
  made.agent = agent;
  made.peer_agent = peer;
  made.is_known = peer != kNobody;
  if (made.is_known) {
    const Route back{route.kind, layout_.kinds()[route.kind].wrapped(-route.steps)};
    const std::size_t other = pair_of(static_cast<std::size_t>(peer), back);
    pairs_[index].peer = other;
  }
  return index;
}

bool Simulation::run() {
  for (std::size_t agent = 0; agent < states_.size(); ++agent) queue_.push_back(agent);
  while (!queue_.empty()) {
    const std::size_t agent = queue_.back();
    queue_.pop_back();
    states_[agent].is_queued = false;
    advance(agent);
  }
  for (std::size_t agent = 0; agent < states_.size(); ++agent) {
    if (!has_ended(agent)) return false;
  }
  return true;
}

void Simulation::advance(std::size_t agent) {
  const std::vector<RehearsedEvent>& events = program(agent).events;
  while (runs_[agent].num_done < events.size()) {
    const std::size_t at = runs_[agent].num_done;
    const RehearsedEvent& event = events[at];
    if (!states_[agent].has_reached) reach(agent, event);
    if (event.waits < 0) {
      start(agent, at);
    } else if (!wait(agent, event)) {
      return;
    }
    pass(agent);
  }
  finish(agent);
}

void Simulation::reach(std::size_t agent, const RehearsedEvent& event) {
  State& state = states_[agent];
  AgentRun& run = runs_[agent];
  const RehearsedRank& rank = program(agent);
  state.has_reached = true;
  if (!is_timed_) return;
  if (run.num_done == rank.first_of_step) state.flops = rank.flops_before_step;
  if (is_in_step(agent)) run.now += std::max(0.0, event.flops - state.flops) * costs_.seconds_per_flop;
  state.flops = event.flops;
}

void Simulation::pass(std::size_t agent) {
  states_[agent].has_reached = false;
  runs_[agent].num_done += 1;
  if (is_timed_) runs_[agent].passed.push_back(runs_[agent].now);
}

void Simulation::finish(std::size_t agent) {
  const RehearsedRank& rank = program(agent);
  State& state = states_[agent];
  if (!is_timed_ || state.has_reached) return;
  state.has_reached = true;
  if (rank.first_of_step == rank.events.size()) state.flops = rank.flops_before_step;
  runs_[agent].now += std::max(0.0, rank.flops - state.flops) * costs_.seconds_per_flop;
}

void Simulation::start(std::size_t agent, std::size_t at) {
  const RehearsedRank& rank = program(agent);
  const std::uint32_t index = rank.events[at].call;
  const TranslatedCall& call = layout_.calls(agents_.all()[agent].rehearsed)[index];
  if (layout_.kinds()[call.kind].size() == 1) return;
  State& state = states_[agent];
  Start start{runs_[agent].now, costs_.transfer ? costs_.transfer(agent, index) : 0, is_in_step(agent)};
  if (start.is_in_step) runs_[agent].communicated += start.seconds;
  if (call.role == TranslatedCall::Role::collective) {
    const std::size_t line = state.collectives[call.kind];
    const std::size_t number = collectives_[line].start(static_cast<std::int32_t>(agent), start);
    state.started.emplace(at, Token{false, line, number, index});
    if (collectives_[line].is_over(number)) wake(sleepers_[line]);
  } else {
    const std::size_t pair = state.pairs.at({call.kind, call.steps});
    const std::size_t number = pairs_[pair].line.start(call.role == TranslatedCall::Role::send, start);
    state.started.emplace(at, Token{true, pair, number, index});
    exchange(pair);
  }
}

void Simulation::exchange(std::size_t pair) {
  Pair& here = pairs_[pair];
  if (!here.is_known) {
    here.line.pass();
    return;
  }
  Pair& there = pairs_[here.peer];
  bool was_done = false;
  if (rule_ == schedule::SendRule::rendezvous) {
    was_done = TransferLine::meet(here.line, there.line);
  } else {
    was_done = TransferLine::deliver(here.line, there.line);
    was_done = TransferLine::deliver(there.line, here.line) || was_done;
  }
  if (was_done) wake(there.agent);
}

bool Simulation::is_over(const Token& token) const {
  return token.is_transfer ? pairs_[token.line].line.is_over(token.number)
                           : collectives_[token.line].is_over(token.number);
}

bool Simulation::wait(std::size_t agent, const RehearsedEvent& event) {
  State& state = states_[agent];
  const auto found = state.started.find(static_cast<std::size_t>(event.waits));
  if (found == state.started.end()) return true;  // a channel of one rank
  const Token& token = found->second;
  if (!is_over(token)) {
    if (!token.is_transfer) sleepers_[token.line].push_back(agent);
    return false;
  }
  AgentRun& run = runs_[agent];
  const Moment& moment =
      token.is_transfer ? pairs_[token.line].line.moment(token.number) : collectives_[token.line].moment(token.number);
  if (is_timed_ && moment.done > run.now && is_in_step(agent)) {
    const double ready = std::max(run.now, moment.ready);
    run.waits.push_back({run.num_done, ready - run.now, moment.done - ready});
    run.now = moment.done;
  }
  state.started.erase(found);
  return true;
}

void Simulation::wake(std::vector<std::size_t>& sleepers) {
  for (const std::size_t agent : sleepers) wake(agent);
  sleepers.clear();
}

void Simulation::wake(std::size_t agent) {
  if (std::exchange(states_[agent].is_queued, true)) return;
  queue_.push_back(agent);
}

Obstacle Simulation::obstacle(std::size_t agent) const {
  const RehearsedRank& rank = program(agent);
  const auto& event = rank.events[runs_[agent].num_done];
  const Token& token = states_[agent].started.at(static_cast<std::size_t>(event.waits));
  if (!token.is_transfer) {
    return {token.call, token.number + 1, token.call, collectives_[token.line].missing(token.number)};
  }
  const Pair& pair = pairs_[token.line];
  const std::size_t blocking = rule_ == schedule::SendRule::rendezvous ? pair.line.head() : token.number;
  // Which call that is: the started ones of the pair are numbered in the order of their events.
  Obstacle found{token.call, 0, token.call, {pair.peer_agent}};
  const std::vector<TranslatedCall>& calls = layout_.calls(agents_.all()[agent].rehearsed);
  std::size_t sends = 0, receives = 0;
  for (std::size_t i = 0; i < runs_[agent].num_done; ++i) {
    const std::uint32_t index = rank.events[i].call;
    const TranslatedCall& call = calls[index];
    if (rank.events[i].waits >= 0 || call.role == TranslatedCall::Role::collective) continue;
    if (states_[agent].pairs.at({call.kind, call.steps}) != token.line) continue;
    std::size_t& count = call.role == TranslatedCall::Role::send ? sends : receives;
    ++count;
    if (sends + receives == blocking + 1) {
      found.call = index;
      found.number = count;
      break;
    }
  }
  return found;
}

}  // namespace titan::rehearsal
