#include "core/trace/memory_summary.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/text.hpp"
#include "core/trace/lives.hpp"
#include "core/trace/site.hpp"

namespace titan::trace {
namespace {

constexpr std::size_t kIntervals = 240;
constexpr std::size_t kMostBands = 9;  // the last of them for all others
constexpr std::size_t kMostFailures = 100;

/// Adds up bytes under numbers, and gives the largest sums names.
class Grouping {
 public:
  void add(std::uint64_t key, std::int64_t bytes) {
    auto& [sum, count] = groups_[key];
    sum += bytes;
    ++count;
  }

  /// The `top` largest; `name_of` names a key.
  template <class NameOf>
  std::vector<MemoryGroup> largest(std::size_t top, const NameOf& name_of) const {
    std::vector<MemoryGroup> groups;
    for (const std::uint64_t key : keys(top)) {
      const auto& [sum, count] = groups_.at(key);
      groups.push_back({name_of(key), sum, count});
    }
    return groups;
  }

  std::vector<std::uint64_t> keys(std::size_t top) const {
    std::vector<std::uint64_t> found;
    for (const auto& [key, sums] : groups_) found.push_back(key);
    std::stable_sort(found.begin(), found.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return groups_.at(a).first > groups_.at(b).first; });
    found.resize(std::min(found.size(), top));
    return found;
  }

 private:
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> groups_;
};

/// "layers.3" of "layers.3.attention.wq"; other modules stay themselves.
std::string_view layer_of(std::string_view module) {
  std::size_t begin = 0;
  while (begin < module.size()) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    const std::string_view part = module.substr(begin, end - begin);
    const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) return module.substr(0, end);
    begin = end + 1;
  }
  return module;
}

class DeviceSummariser {
 public:
  DeviceSummariser(const Snapshot& snapshot, const std::vector<Site>& sites, const DeviceMemory& device,
                   const SummaryRequest& request, const std::string& source)
      : snapshot_(snapshot),
        sites_(sites),
        device_(device),
        request_(request),
        lives_(lives_of(device)),
        bytes_(lives_, device.events.size(), source),
        modules_(sites.size(), pickle::Texts::kNone),
        ops_(sites.size(), pickle::Texts::kNone) {
    learn_kinds();
  }

  DeviceSummary summarise() {
    DeviceSummary summary;
    summary.reserved = device_.reserved;
    summary.num_events = device_.events.size();
    summary.before_bytes = bytes_.after(0);
    for (const Life& life : lives_) summary.num_allocations += life.begin == Life::kBefore ? 0U : 1U;
    if (!device_.events.empty()) {
      summary.begin_us = device_.events.front().time_us;
      summary.end_us = device_.events.back().time_us;
    }
    find_peak(summary);
    summary.end = live_set(bytes_.num_events());
    summary.timeline = timeline(summary.peak_event);
    add_growth(summary);
    add_failures(summary);
    return summary;
  }

 private:
  const Site& site(const Life& life) const { return sites_[life.stack]; }

  /// What makes blocks alike: who made them, and how large they are.
  using Form = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;
  Form form_of(const Life& life) const { return {site(life).op, site(life).module, site(life).phase, life.size}; }

  /// Titan tells the kinds of blocks that are alive; one that came and went is of the kind of those alike.
  void learn_kinds() {
    for (const Life& life : lives_) {
      if (life.kind == pickle::Texts::kNone || life.stack == 0) continue;
      const auto [found, is_new] = kinds_.try_emplace(form_of(life), life.kind);
      if (found->second != life.kind) found->second = pickle::Texts::kNone;
    }
    if (kinds_.empty()) return;
    for (Life& life : lives_) {
      if (life.kind != pickle::Texts::kNone || life.stack == 0) continue;
      const auto found = kinds_.find(form_of(life));
      if (found != kinds_.end()) life.kind = found->second;
    }
  }

  /// Keys: the number of a kind's text, or that of a phase with a bit above it.
  std::uint64_t kind_key(const Life& life) const {
    if (life.kind != pickle::Texts::kNone) return life.kind;
    return std::uint64_t{1} << 32U | site(life).phase;
  }
  std::string kind_name(std::uint64_t key) const {
    const std::string text(snapshot_.text(static_cast<std::uint32_t>(key)));
    if (key >> 32U == 0) return text;
    return text.empty() ? "unknown" : concat("temporary, ", text);
  }

  // Modules and operators are labels, found once for each stack.

  std::uint64_t module_key(const Life& life) {
    const std::string_view module = snapshot_.text(site(life).module);
    const bool has_owner = life.name != pickle::Texts::kNone && (module.empty() || module == "(no module)");
    if (has_owner) return labels_.number(owner_of(life));
    return label_of(modules_, life, [&] { return module_text(snapshot_, site(life)); });
  }
  std::uint64_t op_key(const Life& life) {
    return label_of(ops_, life, [&] { return op_text(snapshot_, site(life)); });
  }
  std::string label(std::uint64_t key) const { return std::string(labels_[static_cast<std::uint32_t>(key)]); }

  template <class TextOf>
  std::uint64_t label_of(std::vector<std::uint32_t>& of_stacks, const Life& life, const TextOf& text_of) {
    std::uint32_t& label = of_stacks[life.stack];
    if (label == pickle::Texts::kNone) label = labels_.number(text_of());
    return label;
  }

  /// The module of a parameter, or of what belongs to one: "layers.0.wq" of "layers.0.wq.weight.exp_avg".
  std::string_view owner_of(const Life& life) const {
    std::string_view name = snapshot_.text(life.name);
    const std::size_t num_parts = snapshot_.text(life.kind) == "optimizer_state" ? 2 : 1;
    for (std::size_t i = 0; i < num_parts; ++i) name = name.substr(0, name.rfind('.'));
    return name.empty() ? "(no module)" : name;
  }

  void find_peak(DeviceSummary& summary) {
    std::size_t peak = 0;
    for (std::size_t i = 1; i <= bytes_.num_events(); ++i) {
      if (bytes_.after(i) > bytes_.after(peak)) peak = i;
    }
    summary.peak = live_set(peak);
    summary.peak_event = peak;
    if (peak == 0) {
      summary.peak_us = summary.begin_us;
      return;
    }
    const MemoryEvent& event = device_.events[peak - 1];
    summary.peak_us = event.time_us;
    summary.peak_site = site_text(snapshot_, sites_[event.stack]);
  }

  LiveSet live_set(std::size_t count) {
    LiveSet set;
    Grouping kinds, modules, ops;
    std::vector<const Life*> alive;
    for (const Life& life : lives_) {
      if (!life.is_alive(count)) continue;
      alive.push_back(&life);
      set.bytes += life.size;
      kinds.add(kind_key(life), life.size);
      modules.add(module_key(life), life.size);
      ops.add(op_key(life), life.size);
    }
    set.blocks = static_cast<std::int64_t>(alive.size());
    set.kinds = kinds.largest(request_.top, [&](std::uint64_t key) { return kind_name(key); });
    set.modules = modules.largest(request_.top, [&](std::uint64_t key) { return label(key); });
    set.ops = ops.largest(request_.top, [&](std::uint64_t key) { return label(key); });
    set.largest = largest(std::move(alive));
    return set;
  }

  std::vector<NamedBlock> largest(std::vector<const Life*> alive) const {
    const std::size_t count = std::min(alive.size(), request_.top);
    std::partial_sort(alive.begin(), alive.begin() + static_cast<std::ptrdiff_t>(count), alive.end(),
                      [](const Life* a, const Life* b) {
                        return std::tuple(b->size, a->begin, a) < std::tuple(a->size, b->begin, b);
                      });
    std::vector<NamedBlock> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      const Life& life = *alive[i];
      blocks.push_back({life.size, kind_name(kind_key(life)), std::string(snapshot_.text(life.name)),
                        life.stack == 0 ? "before the first event" : site_text(snapshot_, site(life))});
    }
    return blocks;
  }

  // Timeline.

  /// Numbers of events after which an interval had most alive: of each interval one.
  std::vector<std::size_t> moments(std::size_t peak) const {
    const std::size_t count = bytes_.num_events();
    std::vector<std::size_t> found;
    const std::int64_t begin = count == 0 ? 0 : device_.events.front().time_us;
    const std::int64_t end = count == 0 ? 0 : device_.events.back().time_us;
    const auto interval_of = [&](std::size_t event) {
      // Times of a damaged file may go backwards or be absent: then numbers of events stand for them.
      const double part = end > begin
                              ? (static_cast<double>(device_.events[event].time_us) - static_cast<double>(begin)) /
                                    (static_cast<double>(end) - static_cast<double>(begin))
                              : static_cast<double>(event) / static_cast<double>(count);
      return static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * (kIntervals - 1));
    };
    std::size_t interval = SIZE_MAX;
    for (std::size_t event = 0; event < count; ++event) {
      const std::size_t now = interval_of(event);
      if (found.empty() || now > interval) {
        interval = now;
        found.push_back(event + 1);
      } else if (bytes_.after(event + 1) > bytes_.after(found.back())) {
        found.back() = event + 1;
      }
    }
    if (found.empty()) found.push_back(peak);
    return found;
  }

  std::uint64_t band_key(const Life& life) {
    if (request_.bands == BandsBy::module) return layer_key(module_key(life));
    if (request_.bands == BandsBy::op) return op_key(life);
    return kind_key(life);
  }
  /// Ten bands are not enough for modules: a layer's are one, "layers.3".
  std::uint64_t layer_key(std::uint64_t module) {
    const auto known = layers_.find(module);
    if (known != layers_.end()) return known->second;
    const std::uint64_t layer = labels_.number(std::string(layer_of(label(module))));
    layers_.emplace(module, layer);
    return layer;
  }
  std::string band_name(std::uint64_t key) const {
    if (request_.bands == BandsBy::module) return label(key);
    if (request_.bands == BandsBy::op) return label(key);
    return kind_name(key);
  }

  /// The bands with most bytes at the peak, then of the largest blocks.
  std::map<std::uint64_t, std::size_t> choose_bands(std::size_t peak, MemoryTimeline& timeline) {
    Grouping at_peak;
    for (const Life& life : lives_) at_peak.add(band_key(life), life.is_alive(peak) ? life.size : 0);
    std::map<std::uint64_t, std::size_t> bands;
    const std::vector<std::uint64_t> all = at_peak.keys(kMostBands + 1);
    const std::size_t count = all.size() > kMostBands ? kMostBands - 1 : all.size();
    for (std::size_t i = 0; i < count; ++i) {
      bands.emplace(all[i], i);
      timeline.bands.push_back(band_name(all[i]));
    }
    if (count < all.size()) timeline.bands.emplace_back("all others");
    return bands;
  }

  MemoryTimeline timeline(std::size_t peak) {
    MemoryTimeline timeline;
    const std::vector<std::size_t> at = moments(peak);
    const std::map<std::uint64_t, std::size_t> bands = choose_bands(peak, timeline);
    // What changes between moments, then the sums of it.
    timeline.stacks.assign(timeline.bands.size(), std::vector<std::int64_t>(at.size() + 1, 0));
    for (const Life& life : lives_) {
      const auto found = bands.find(band_key(life));
      std::vector<std::int64_t>& band =
          timeline.stacks[found == bands.end() ? timeline.bands.size() - 1 : found->second];
      const auto begin = life.begin == Life::kBefore ? at.begin() : std::upper_bound(at.begin(), at.end(), life.begin);
      const auto end = std::upper_bound(at.begin(), at.end(), life.end);
      band[static_cast<std::size_t>(begin - at.begin())] += life.size;
      band[static_cast<std::size_t>(end - at.begin())] -= life.size;
    }
    for (std::vector<std::int64_t>& band : timeline.stacks) {
      for (std::size_t i = 1; i < band.size(); ++i) band[i] += band[i - 1];
      band.pop_back();
    }
    for (const std::size_t moment : at) {
      timeline.bytes.push_back(bytes_.after(moment));
      timeline.time_us.push_back(moment == 0 ? 0 : device_.events[moment - 1].time_us);
    }
    return timeline;
  }

  // Growth.

  void add_growth(DeviceSummary& summary) const {
    std::map<std::int64_t, StepGrowth> steps;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::pair<LeakSuspect, std::set<std::int64_t>>>
        places;
    for (const Life& life : lives_) {
      const Site& where = site(life);
      if (where.step < 0) continue;
      StepGrowth& step = steps[where.step];
      step.allocated += life.size;
      if (!life.is_alive(bytes_.num_events())) continue;
      step.alive += life.size;
      ++step.alive_blocks;
      if (where.step == 0) continue;
      auto& [suspect, its_steps] = places[{where.op, where.module, where.phase}];
      suspect.bytes += life.size;
      ++suspect.blocks;
      its_steps.insert(where.step);
      Site place = where;
      place.step = -1;
      if (suspect.site.empty()) suspect.site = site_text(snapshot_, place);
    }
    for (auto& [number, step] : steps) {
      step.step = number;
      summary.steps.push_back(step);
    }
    for (auto& [place, found] : places) {
      found.first.steps = static_cast<std::int64_t>(found.second.size());
      if (found.first.steps >= 2) summary.suspects.push_back(std::move(found.first));
    }
    std::stable_sort(summary.suspects.begin(), summary.suspects.end(),
                     [](const LeakSuspect& a, const LeakSuspect& b) { return a.bytes > b.bytes; });
    summary.suspects.resize(std::min(summary.suspects.size(), request_.top));
  }

  void add_failures(DeviceSummary& summary) const {
    for (const MemoryEvent& event : device_.events) {
      if (event.action != Action::oom || summary.failures.size() == kMostFailures) continue;
      summary.failures.push_back({event.size, static_cast<std::int64_t>(event.address), event.time_us,
                                  site_text(snapshot_, sites_[event.stack])});
    }
  }

  const Snapshot& snapshot_;
  const std::vector<Site>& sites_;
  const DeviceMemory& device_;
  const SummaryRequest& request_;
  std::vector<Life> lives_;
  LiveBytes bytes_;
  std::map<Form, std::uint32_t> kinds_;
  pickle::Texts labels_;
  std::map<std::uint64_t, std::uint64_t> layers_;  // labels of modules -> of their layers
  std::vector<std::uint32_t> modules_, ops_;       // labels of stacks; kNone: not looked at
};

}  // namespace

std::vector<DeviceSummary> summarise(const Snapshot& snapshot, const SummaryRequest& request,
                                     const std::string& source) {
  const std::vector<Site> sites = sites_of(snapshot);
  std::vector<DeviceSummary> summaries;
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    const DeviceMemory& device = snapshot.devices[i];
    if (device.events.empty() && device.blocks.empty() && device.reserved == 0) continue;
    summaries.push_back(DeviceSummariser(snapshot, sites, device, request, source).summarise());
    summaries.back().device = i;
  }
  return summaries;
}

}  // namespace titan::trace
