#include "plugins/observability/memory/frame_writer.hpp"

#include <string_view>

#include "plugins/observability/phase.hpp"
#include "titan/sdk/text.hpp"

namespace titan::observability {

FrameWriter::FrameWriter(PickleWriter& writer, const Recorder::View& view, Symbolize symbolize)
    : writer_(writer), view_(view), lists_(view.places.size()), places_(view.places.size(), kNever) {
  if (symbolize == nullptr) return;
  for (std::uint32_t stack = 0; stack < view.stacks.size(); ++stack) {
    for (void* address : view.stacks[stack]) functions_.try_emplace(address);
  }
  std::vector<void*> addresses;
  for (const auto& [address, function] : functions_) addresses.push_back(address);
  std::vector<StackFrame> frames = symbolize(addresses);
  for (std::size_t i = 0; i < frames.size(); ++i) functions_[addresses[i]].text = std::move(frames[i]);
}

void FrameWriter::write(std::uint32_t place, std::int32_t step, std::uint32_t stack) {
  List& last = lists_[place];
  if (last.number != kNever && last.step == step && last.stack == stack) return writer_.recall(last.number);
  const Place& where = view_.places[place];
  writer_.begin_list();
  const std::string& op = where.op.empty() ? where.node : where.op;
  frame(places_[place], op.empty() ? "(no operator)" : op, where.module.empty() ? "(no module)" : where.module, 0);
  frame(phases_.try_emplace({where.phase, step}, kNever).first->second, phase_name(where.phase),
        sdk::concat("step ", step), step);
  if (!where.node.empty()) frame(nodes_.try_emplace(where.node, kNever).first->second, where.node, "autograd", 0);
  stack_frames(stack);
  writer_.end_list();
  last = {step, stack, writer_.remember()};
}

void FrameWriter::stack_frames(std::uint32_t stack) {
  for (void* address : view_.stacks[stack]) {
    const auto found = functions_.find(address);
    if (found == functions_.end()) continue;
    Function& function = found->second;
    frame(function.number, function.text.name, function.text.file, function.text.line);
  }
}

void FrameWriter::frame(std::uint32_t& number, std::string_view name, std::string_view file, std::int64_t line) {
  if (number != kNever) return writer_.recall(number);
  writer_.begin_dict();
  writer_.entry("name", name);
  writer_.entry("filename", file);
  writer_.entry("line", line);
  writer_.end_dict();
  number = writer_.remember();
}

}  // namespace titan::observability
