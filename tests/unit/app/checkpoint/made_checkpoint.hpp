#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app::testing {

/// A tensor for a test and its bytes.
template <class Element>
struct Made {
  checkpoint::DType dtype;
  std::vector<std::int64_t> shape;
  std::vector<Element> values;
};

/// Makes a step of tensors that one rank holds.
class MadeCheckpoint {
 public:
  explicit MadeCheckpoint(std::filesystem::path parent) : parent_(std::move(parent)) {
    std::filesystem::create_directories(parent_);
  }

  template <class Element>
  void add(const std::string& name, const Made<Element>& made) {
    const auto* bytes = reinterpret_cast<const std::byte*>(made.values.data());
    tensors_[name] = {{name, made.dtype, made.shape}, {bytes, bytes + made.values.size() * sizeof(Element)}};
  }
  void set_train_state(const checkpoint::TrainState& state) { state_ = state; }

  /// Commits a step and opens it.
  checkpoint::Source save(const checkpoint::Origin& origin = {}, std::int64_t step = 3) const {
    checkpoint::Manifest manifest;
    manifest.step = step;
    manifest.save_id = checkpoint::draw_id();
    manifest.contents = state_ ? checkpoint::Contents::full : checkpoint::Contents::model_only;
    manifest.origin = origin;
    auto& calls = checkpoint::system_calls();
    const auto temporary = checkpoint::begin_step(calls, parent_, step, manifest.save_id);
    std::vector<checkpoint::HeldPart> parts;
    for (const auto& [name, tensor] : tensors_) {
      const Box whole{std::vector<std::int64_t>(tensor.info.shape.size(), 0), tensor.info.shape};
      parts.push_back({tensor.info, whole, tensor.bytes.data()});
    }
    const auto report = checkpoint::write_shard(calls, temporary / checkpoint::shard_name(0, 1),
                                                checkpoint::lay_out_shard(parts, manifest.save_id));
    std::vector<checkpoint::ExtraFile> extra;
    if (state_) extra.push_back({checkpoint::kTrainStateFile, checkpoint::write_train_state(*state_)});
    checkpoint::publish_step(calls, parent_, temporary, manifest, {&report, 1}, extra);
    return checkpoint::open_titan(parent_ / checkpoint::step_name(step));
  }

 private:
  struct Tensor {
    checkpoint::TensorInfo info;
    std::vector<std::byte> bytes;
  };
  std::filesystem::path parent_;
  std::map<std::string, Tensor> tensors_;
  std::optional<checkpoint::TrainState> state_;
};

}  // namespace titan::app::testing
