#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace titan::benchmark {

/// A way to run titan: which tools watch.
struct Variant {
  std::string name;
  std::filesystem::path titan;
  std::string options;
};

/// The runs of this benchmark: llama3_debugmodel, a row of 128 tokens a step, one thread.
class Runs {
 public:
  /// `scratch` is for an installation without tools, and for what the runs write.
  explicit Runs(std::filesystem::path scratch);

  Variant off() const;
  Variant on() const;
  /// Records all steps of a run of so many.
  Variant profiler(int steps) const;
  Variant memory() const;

  std::string command(const Variant& variant, int steps) const;
  /// Runs it and returns the wall time of each step but the first few, from the rows that spans has written.
  std::vector<double> step_seconds(const Variant& variant, int steps) const;
  /// Runs it under callgrind and returns how many instructions were executed.
  std::int64_t instructions(const Variant& variant, int steps) const;

 private:
  std::filesystem::path dump_folder() const { return scratch_ / "outputs"; }
  void install_without_tools() const;

  std::filesystem::path scratch_;
};

}  // namespace titan::benchmark
