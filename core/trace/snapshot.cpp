#include "core/trace/snapshot.hpp"

#include "core/pickle/stream.hpp"
#include "core/trace/snapshot_listener.hpp"

namespace titan::trace {

std::uint32_t Stacks::add(std::span<const std::uint32_t> frames) {
  items_.insert(items_.end(), frames.begin(), frames.end());
  ends_.push_back(items_.size());
  return static_cast<std::uint32_t>(ends_.size() - 2);
}

std::uint32_t Stacks::add_frame(const StackFrame& frame) {
  frames_.push_back(frame);
  return static_cast<std::uint32_t>(frames_.size() - 1);
}

std::span<const std::uint32_t> Stacks::operator[](std::uint32_t stack) const {
  return std::span(items_).subspan(ends_[stack], ends_[stack + 1] - ends_[stack]);
}

std::string_view Snapshot::text(std::uint32_t number) const {
  return number == pickle::Texts::kNone ? std::string_view() : texts[number];
}

Snapshot read_snapshot(const std::filesystem::path& path) {
  const FileReader file(path);
  Snapshot snapshot;
  const std::string source = path.native();
  SnapshotListener listener(snapshot, source);
  listener.finish(pickle::read_stream(file, snapshot.texts, listener));
  return snapshot;
}

Snapshot read_snapshot(std::string_view bytes, const std::string& source) {
  Snapshot snapshot;
  SnapshotListener listener(snapshot, source);
  listener.finish(pickle::read_stream(bytes, source, snapshot.texts, listener));
  return snapshot;
}

}  // namespace titan::trace
