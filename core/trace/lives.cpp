#include "core/trace/lives.hpp"

#include <unordered_map>

#include "core/base/error.hpp"

namespace titan::trace {
namespace {

constexpr std::int64_t kMostInAll = std::int64_t{1} << 60U;

/// Follows the events of a device; what is alive stands under its address.
class LifeTracker {
 public:
  explicit LifeTracker(const DeviceMemory& device) : device_(device), num_events_(device.events.size()) {}

  std::vector<Life> track() {
    for (std::size_t i = 0; i < num_events_; ++i) {
      const MemoryEvent& event = device_.events[i];
      if (event.action == Action::alloc) begin(i, event);
      if (event.action == Action::free_completed) end(i, event);
    }
    for (const LiveBlock& block : device_.blocks) name(block);
    before_.insert(before_.end(), lives_.begin(), lives_.end());
    return std::move(before_);
  }

 private:
  void begin(std::size_t at, const MemoryEvent& event) {
    const auto [found, is_new] = alive_.try_emplace(event.address, lives_.size());
    if (!is_new) {
      // Its free is not told; two blocks are never at one place.
      lives_[found->second].end = at;
      found->second = lives_.size();
    }
    lives_.push_back({.begin = at, .end = num_events_, .size = event.size, .stack = event.stack});
  }

  void end(std::size_t at, const MemoryEvent& event) {
    const auto found = alive_.find(event.address);
    if (found == alive_.end()) {
      before_.push_back({.end = at, .size = event.size});
      return;
    }
    lives_[found->second].end = at;
    alive_.erase(found);
  }

  void name(const LiveBlock& block) {
    const auto found = alive_.find(block.address);
    if (found == alive_.end()) {
      before_.push_back(
          {.end = num_events_, .size = block.size, .stack = block.stack, .kind = block.kind, .name = block.name});
      return;
    }
    Life& life = lives_[found->second];
    life.kind = block.kind;
    life.name = block.name;
    if (life.stack == 0) life.stack = block.stack;
  }

  const DeviceMemory& device_;
  std::size_t num_events_;
  std::vector<Life> before_, lives_;
  std::unordered_map<std::uint64_t, std::size_t> alive_;  // places in lives_
};

}  // namespace

std::vector<Life> lives_of(const DeviceMemory& device) { return LifeTracker(device).track(); }

LiveBytes::LiveBytes(const std::vector<Life>& lives, std::size_t num_events, const std::string& source)
    : bytes_(num_events + 1, 0) {
  // First what each event changes, then the sums of it.
  std::int64_t total = 0;
  for (const Life& life : lives) {
    total += life.size;
    if (total > kMostInAll) throw DataError("[trace] sizes add up to more than any memory: ", printable(source));
    bytes_[life.begin == Life::kBefore ? 0 : life.begin + 1] += life.size;
    if (life.end < num_events) bytes_[life.end + 1] -= life.size;
  }
  for (std::size_t i = 1; i < bytes_.size(); ++i) bytes_[i] += bytes_[i - 1];
}

}  // namespace titan::trace
