#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace titan::observability {

/// A recording of libtorch's profiler, of which a process has one at a time. One thread.
class Kineto {
 public:
  explicit Kineto(bool with_cuda);
  /// Stops what still runs, and forgets it.
  ~Kineto();
  Kineto(const Kineto&) = delete;
  Kineto& operator=(const Kineto&) = delete;

  /// Warms up: what is slow the first time is done before the recording.
  void prepare();
  void start();
  /// Stops recording and writes a Chrome trace.
  void stop(const std::filesystem::path& path);
  /// Stops recording and writes nothing.
  void discard();

  bool is_prepared() const { return state_ != State::idle; }
  bool is_recording() const { return state_ == State::recording; }

  /// Names the step that runs from now on: "ProfilerStep#10".
  void name_step(const std::string& name);
  void end_step();

 private:
  enum class State { idle, prepared, recording };
  struct Annotation;

  bool with_cuda_;
  State state_ = State::idle;
  std::unique_ptr<Annotation> step_;
};

}  // namespace titan::observability
