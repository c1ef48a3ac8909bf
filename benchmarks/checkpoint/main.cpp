// Saves and loads 1.5 GB of state beside a bare writer, reader and copy of as many bytes, alternating in one process.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/checkpoint/raw_file.hpp"
#include "benchmarks/checkpoint/state.hpp"
#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "core/base/clock.hpp"
#include "core/base/temporary_folder.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/saver.hpp"

namespace titan::benchmark {
namespace {

double seconds_of(const std::function<void()>& action) {
  const double begin = monotonic_seconds();
  action();
  return monotonic_seconds() - begin;
}

/// Seconds of both sides and the machine's speed, by pair.
class Series {
 public:
  Series(const char* name, const char* baseline) : name_(name), baseline_(baseline) {}

  /// Which side begins changes from pair to pair.
  void add(const std::function<double()>& ours, const std::function<double()>& theirs) {
    probes_.push_back(measure_probe());
    const bool we_begin = probes_.size() % 2 == 1;
    if (!we_begin) theirs_.push_back(theirs());
    ours_.push_back(ours());
    if (we_begin) theirs_.push_back(theirs());
  }
  /// Forgets the first pair, which warms up.
  void forget() {
    ours_.clear();
    theirs_.clear();
    probes_.clear();
  }
  /// Prints ours / theirs, of time or of rate.
  void print(std::uint64_t bytes, bool of_rate) const {
    const Probe usual = usual_probe(probes_);
    const std::vector<double> ratios =
        of_rate ? steady_ratios(theirs_, ours_, probes_) : steady_ratios(ours_, theirs_, probes_);
    const Interval interval = bootstrap_median(ratios);
    std::printf("%-8s %7.3f s (%.2f GB/s)  %-14s %7.3f s (%.2f GB/s)\n", name_, median(ours_), rate(bytes, ours_),
                baseline_, median(theirs_), rate(bytes, theirs_));
    std::printf(
        "  ratio of %s: %.3f (95 %% interval %.3f to %.3f, %zu of %zu pairs steady); probes: product %.2f ms, copy "
        "%.2f ms\n",
        of_rate ? "rates" : "times", interval.median, interval.low, interval.high, ratios.size(), probes_.size(),
        usual.product * 1e3, usual.copy * 1e3);
    std::fflush(stdout);
  }

 private:
  static double rate(std::uint64_t bytes, const std::vector<double>& seconds) {
    return static_cast<double>(bytes) / median(seconds) / 1e9;
  }

  const char* name_;
  const char* baseline_;
  std::vector<double> ours_, theirs_;
  std::vector<Probe> probes_;
};

/// The state, a block of memory as large, and a folder.
class Bench {
 public:
  Bench(const std::filesystem::path& parent, int pairs)
      : folder_(parent), pairs_(pairs), plain_(checkpoint::aligned_up(state_.size())) {
    plain_.touch();
    std::printf("%.3f GB in %zu tensors, %d pairs after one to warm up\n", static_cast<double>(state_.size()) / 1e9,
                state_.held().size(), pairs);
  }

  void measure() {
    if (has_direct_io(folder_.path())) {
      save();
      load();
    } else {
      std::printf("save, load: skipped: no O_DIRECT at %s\n", folder_.path().c_str());
    }
    stage();
  }

 private:
  /// A synchronous save, from the call to the committed step, beside a bare writer.
  void save() {
    Series series("save", "O_DIRECT write");
    checkpoint::Saver saver(team_, checkpoint::system_calls(), saver_options(false));
    for (int pair = -1; pair < pairs_; ++pair) {
      series.add([&] { return seconds_of([&] { saver.save(next_request()); }); },
                 [&] { return seconds_of([&] { write_raw(raw_path(), plain_.bytes()); }); });
      clean();
      if (pair < 0) series.forget();
    }
    series.print(state_.size(), true);
  }

  /// A step opened and read into the tensors, beside a bare reader.
  void load() {
    Series series("load", "O_DIRECT read");
    checkpoint::Saver(team_, checkpoint::system_calls(), saver_options(false)).save(next_request());
    write_raw(raw_path(), plain_.bytes());
    for (int pair = -1; pair < pairs_; ++pair) {
      series.add(
          [&] {
            return seconds_of([&] {
              checkpoint::read_parts(checkpoint::open_titan(steps() / checkpoint::step_name(step_)), state_.wanted());
            });
          },
          [&] { return seconds_of([&] { read_raw(raw_path(), plain_.bytes()); }); });
      if (pair < 0) series.forget();
    }
    clean();
    series.print(state_.size(), true);
  }

  /// The time that training waits for an asynchronous save, beside one copy of as many bytes.
  void stage() {
    Series series("stall", "memcpy");
    checkpoint::Saver saver(team_, checkpoint::system_calls(), saver_options(true));
    saver.prepare(state_.held());
    checkpoint::AlignedMemory other(plain_.bytes().size());
    other.touch();
    for (int pair = -1; pair < pairs_; ++pair) {
      series.add(
          [&] {
            const double seconds = seconds_of([&] { saver.save(next_request()); });
            saver.finish();
            return seconds;
          },
          [&] { return seconds_of([&] { std::memcpy(other.bytes().data(), plain_.bytes().data(), state_.size()); }); });
      clean();
      if (pair < 0) series.forget();
    }
    series.print(state_.size(), false);
  }

  checkpoint::SaveRequest next_request() {
    checkpoint::SaveRequest request;
    request.step = ++step_;
    request.parts = state_.held();
    request.extra = {{checkpoint::kTrainStateFile, checkpoint::write_train_state({.step = step_, .dataloader = {}})}};
    return request;
  }
  checkpoint::Saver::Options saver_options(bool is_async) const {
    return {
        .folder = steps(), .is_async = is_async, .keep_latest_k = 0, .loaded = {}, .origin = {}, .run_id = "benchmark"};
  }
  std::filesystem::path steps() const { return folder_.path() / "steps"; }
  std::filesystem::path raw_path() const { return folder_.path() / "raw"; }
  /// Makes room, outside of what is measured.
  void clean() const {
    std::filesystem::remove(raw_path());
    std::filesystem::remove_all(steps() / checkpoint::step_name(step_));
  }

  TemporaryFolder folder_;
  int pairs_;
  State state_;
  checkpoint::AlignedMemory plain_;
  checkpoint::Alone team_;
  std::int64_t step_ = 0;
};

[[noreturn]] void show_usage() {
  std::fputs("usage: checkpoint [--folder=PATH] [--pairs=N]\n", stderr);
  std::exit(64);
}

void run(int argc, char** argv) {
  std::filesystem::path parent = std::filesystem::current_path();
  int pairs = 15;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--folder=")) {
      parent = word.substr(9);
    } else if (word.starts_with("--pairs=")) {
      pairs = std::max(1, std::atoi(word.substr(8).data()));
    } else {
      show_usage();
    }
  }
  Bench(parent, pairs).measure();
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  try {
    titan::benchmark::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "checkpoint: %s\n", error.what());
    return 1;
  }
  return 0;
}
