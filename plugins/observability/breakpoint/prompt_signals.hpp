#pragma once

#include <csignal>
#include <mutex>
#include <vector>

namespace titan::observability {

/// The signals of this process while it is at a prompt: Ctrl-C is the prompt's alone, others that ask for an end reach
/// the host and the prompt, and job control (Ctrl-Z, output from the background) stops nothing. One at a time: a second
/// waits for the first one's end.
class PromptSignals {
 public:
  PromptSignals();
  ~PromptSignals();
  PromptSignals(const PromptSignals&) = delete;
  PromptSignals& operator=(const PromptSignals&) = delete;

  /// Readable when a signal came.
  int descriptor() const { return reading_; }
  /// The first signal that came and was not taken, or 0.
  int take() const;

 private:
  struct Saved {
    int number;
    struct sigaction action;
  };
  void install(int number, const struct sigaction& action);

  std::unique_lock<std::mutex> turn_;
  int reading_ = -1;
  std::vector<Saved> saved_;
};

}  // namespace titan::observability
