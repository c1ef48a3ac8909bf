#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/observability/memory/recorder.hpp"
#include "plugins/observability/pickle_writer.hpp"

namespace titan::observability {

/// A function of a stack, for a person.
struct StackFrame {
  std::string name, file;
  std::int64_t line = 0;
};
/// Names functions by their return addresses, all at once.
using Symbolize = std::vector<StackFrame> (*)(const std::vector<void*>& addresses);

/// Writes places as the lists of frames that PyTorch's viewers know: operator with its module as file, phase with its
/// step, the autograd node in backward, and then functions of C++. Each list and frame is written once and recalled.
class FrameWriter {
 public:
  /// `symbolize` may be null where no stacks were taken.
  FrameWriter(PickleWriter& writer, const Recorder::View& view, Symbolize symbolize);

  void write(std::uint32_t place, std::int32_t step, std::uint32_t stack);

 private:
  /// What was written once; kNever: not yet.
  static constexpr std::uint32_t kNever = UINT32_MAX;
  struct List {
    std::int32_t step = 0;
    std::uint32_t stack = 0, number = kNever;
  };

  void frame(std::uint32_t& number, std::string_view name, std::string_view file, std::int64_t line);
  void stack_frames(std::uint32_t stack);

  PickleWriter& writer_;
  const Recorder::View& view_;
  std::vector<List> lists_;  // of each place the last: events come in order of time
  std::vector<std::uint32_t> places_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> phases_;  // with their steps
  std::map<std::string, std::uint32_t> nodes_;
  struct Function {
    StackFrame text;
    std::uint32_t number = kNever;
  };
  std::unordered_map<void*, Function> functions_;
};

}  // namespace titan::observability
