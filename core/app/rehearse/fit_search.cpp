#include "core/app/rehearse/fit_search.hpp"

#include <algorithm>

namespace titan::app {
namespace {

constexpr std::size_t kMostTrials = 24;
constexpr std::size_t kMostChanges = 3;  // one of each kind

/// What a change does to memory and time, as far as a rehearsal told.
struct Effect {
  const FitChange* change = nullptr;
  double memory = 1, time = 1;
};

/// Some changes and what they ought to come to.
struct Guess {
  std::vector<FitChange> changes;
  double memory = 1, time = 1;
};

double ratio(double value, double now) { return now > 0 ? value / now : 1; }

FitTrial make_trial(std::vector<FitChange> changes, std::int64_t limit_bytes, const TryChanges& try_changes) {
  FitTrial trial{std::move(changes), {}, false};
  trial.outcome = try_changes(trial.changes);
  trial.fits = trial.outcome.refused.empty() && trial.outcome.peak_bytes <= limit_bytes;
  return trial;
}

/// The index of the first trial by that order, of those that fit; none fits: nothing.
template <class Order>
std::optional<std::size_t> best(const std::vector<FitTrial>& trials, const Order& is_before) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].fits && (!found || is_before(trials[i], trials[*found]))) found = i;
  }
  return found;
}

bool is_faster(const FitTrial& a, const FitTrial& b) { return a.outcome.step_seconds < b.outcome.step_seconds; }

bool is_nearer(const FitTrial& a, const FitTrial& b) {
  const std::size_t options_a = words_of(a.changes).size(), options_b = words_of(b.changes).size();
  return options_a != options_b ? options_a < options_b : is_faster(a, b);
}

std::vector<Effect> effects_of(const std::vector<FitTrial>& trials, const FitOutcome& now) {
  std::vector<Effect> effects;
  for (const FitTrial& trial : trials) {
    if (!trial.outcome.refused.empty()) continue;
    effects.push_back({&trial.changes.front(),
                       ratio(static_cast<double>(trial.outcome.peak_bytes), static_cast<double>(now.peak_bytes)),
                       ratio(trial.outcome.step_seconds.value_or(0), now.step_seconds.value_or(0))});
  }
  return effects;
}

/// Whether both set an option, to different values.
bool clash(const FitChange& a, const FitChange& b) {
  return std::ranges::any_of(a.options, [&](const FitOption& one) {
    return std::ranges::any_of(
        b.options, [&](const FitOption& other) { return one.name == other.name && one.value != other.value; });
  });
}

bool goes_with(const Guess& guess, const FitChange& change) {
  return std::ranges::none_of(
      guess.changes, [&](const FitChange& other) { return other.kind == change.kind || clash(other, change); });
}

/// All sets of `count` changes, each of another kind.
void collect(const std::vector<Effect>& effects, std::size_t from, std::size_t count, const Guess& guess,
             std::vector<Guess>& guesses) {
  if (count == 0) {
    guesses.push_back(guess);
    return;
  }
  for (std::size_t i = from; i < effects.size(); ++i) {
    if (!goes_with(guess, *effects[i].change)) continue;
    Guess more = guess;
    more.changes.push_back(*effects[i].change);
    more.memory *= effects[i].memory;
    more.time *= effects[i].time;
    collect(effects, i + 1, count - 1, more, guesses);
  }
}

/// Those first that ought to fit and cost least time; then those that come nearest.
void sort_by_hope(std::vector<Guess>& guesses, double wanted) {
  std::ranges::stable_sort(guesses, [&](const Guess& a, const Guess& b) {
    const bool a_fits = a.memory <= wanted, b_fits = b.memory <= wanted;
    if (a_fits != b_fits) return a_fits;
    if (!a_fits) return a.memory < b.memory;
    const std::size_t options_a = words_of(a.changes).size(), options_b = words_of(b.changes).size();
    return options_a != options_b ? options_a < options_b : a.time < b.time;
  });
}

}  // namespace

FitSearch search_fit(const FitOutcome& now, std::int64_t limit_bytes, const std::vector<FitChange>& changes,
                     const TryChanges& try_changes, const std::function<bool()>& has_time) {
  FitSearch search;
  search.most_trials = kMostTrials;
  const auto goes_on = [&] {
    search.is_cut = search.is_cut || (has_time && !has_time());
    return !search.is_cut && search.trials.size() < kMostTrials;
  };
  for (const FitChange& change : changes) {
    if (!goes_on()) break;
    search.trials.push_back(make_trial({change}, limit_bytes, try_changes));
  }
  search.chosen = best(search.trials, &is_nearer);
  const std::vector<FitTrial> singles = search.trials;
  const std::vector<Effect> effects = effects_of(singles, now);
  for (std::size_t count = 2; count <= kMostChanges && !search.chosen; ++count) {
    std::vector<Guess> guesses;
    collect(effects, 0, count, {}, guesses);
    sort_by_hope(guesses, ratio(static_cast<double>(limit_bytes), static_cast<double>(now.peak_bytes)));
    // Half of what is left, so that more changes get their turn.
    const std::size_t left = kMostTrials - search.trials.size();
    guesses.resize(std::min(guesses.size(), count == kMostChanges ? left : (left + 1) / 2));
    for (const Guess& guess : guesses) {
      if (!goes_on()) break;
      search.trials.push_back(make_trial(guess.changes, limit_bytes, try_changes));
      if (!search.trials.back().fits) continue;
      search.chosen = search.trials.size() - 1;
      break;
    }
  }
  search.fastest = best(search.trials, &is_faster);
  if (search.fastest == search.chosen) search.fastest.reset();
  return search;
}

}  // namespace titan::app
