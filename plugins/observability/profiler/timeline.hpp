#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace titan::observability {

/// Events of a rank beside those that libtorch records, for a Chrome trace: lanes of spans, and counters. Times are
/// seconds of the monotonic clock. One thread.
class Timeline {
 public:
  /// Forgets everything, and ties the monotonic clock to the date.
  void begin();

  /// A span of a lane; `args` is a JSON object. Where spans of a lane overlap, further lanes of that name are made.
  void add_span(std::string_view lane, std::string name, double begin, double end, std::string args);
  /// The value of a counter from now on.
  void add_counter(const char* name, double time, std::int64_t value);
  bool is_empty() const { return spans_.empty() && counters_.empty(); }

  /// The events as elements of a JSON array, separated by commas, without brackets. Times are microseconds since
  /// `base_ns`, nanoseconds since 1970.
  std::string json(std::int64_t base_ns, std::int64_t process) const;

 private:
  struct Span {
    std::string lane, name;
    double begin, end;
    std::string args;
  };
  struct Counter {
    const char* name;
    double time;
    std::int64_t value;
  };
  struct Clock;

  void append_lanes(std::string& out, const Clock& clock) const;

  double anchor_ = 0;
  std::int64_t anchor_epoch_ns_ = 0;
  std::vector<Span> spans_;
  std::vector<Counter> counters_;
};

}  // namespace titan::observability
