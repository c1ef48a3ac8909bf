#include "core/app/checkpoint/titan_export.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/model_tensors.hpp"
#include "core/checkpoint/pieces.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

namespace ckpt = checkpoint;

/// A part of a tensor in the dtype of the shard.
struct Piece {
  ckpt::TensorInfo tensor;
  Box box;

  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(ckpt::num_elements(box.size)) * ckpt::element_size(tensor.dtype);
  }
};
using Shard = std::vector<Piece>;

std::uint64_t bytes_of_shard(const Shard& shard) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : shard) bytes += piece.bytes();
  return bytes;
}

/// Fills one shard after the other. A shard has one part of a tensor at most.
std::vector<Shard> plan_shards(const ckpt::Source& source, const TitanExport& options, bool is_full) {
  std::vector<Shard> shards(1);
  std::uint64_t bytes = 0;
  for (const auto& [name, stored] : source.tensors) {
    if (!is_full && !ckpt::is_model_tensor(name)) continue;
    const ckpt::TensorInfo tensor{
        name, options.dtype && ckpt::is_floating(stored.dtype) ? *options.dtype : stored.dtype, stored.shape};
    const Box whole{std::vector<std::int64_t>(tensor.shape.size(), 0), tensor.shape};
    for (Box& box : ckpt::pieces_of(whole, options.most_bytes_a_shard / ckpt::element_size(tensor.dtype))) {
      Piece piece{tensor, std::move(box)};
      Shard& last = shards.back();
      if (!last.empty() && (bytes + piece.bytes() > options.most_bytes_a_shard || last.back().tensor.name == name)) {
        shards.emplace_back();
        bytes = 0;
      }
      bytes += piece.bytes();
      shards.back().push_back(std::move(piece));
    }
  }
  return shards;
}

bool holds_all(const ckpt::Source& source) {
  const bool has_optimizer =
      std::ranges::any_of(source.tensors, [](const auto& tensor) { return tensor.first.starts_with("optimizer."); });
  return source.train_state && has_optimizer;
}

/// One export.
class TitanWriter {
 public:
  TitanWriter(ckpt::SystemCalls& calls, const ckpt::Source& source, const TitanExport& options)
      : calls_(calls),
        source_(source),
        options_(options),
        is_full_(holds_all(source)),
        shards_(plan_shards(source, options, is_full_)) {
    manifest_.step = options.step;
    manifest_.save_id = ckpt::draw_id();
    manifest_.contents = is_full_ ? ckpt::Contents::full : ckpt::Contents::model_only;
    manifest_.origin = options.origin;
    for (const Shard& shard : shards_) total_ += bytes_of_shard(shard);
  }

  std::filesystem::path write(const std::filesystem::path& parent) {
    const auto temporary = ckpt::begin_step(calls_, parent, manifest_.step, manifest_.save_id);
    try {
      std::vector<ckpt::ShardReport> reports;
      for (std::size_t i = 0; i < shards_.size(); ++i) reports.push_back(write_shard(i, temporary));
      std::vector<ckpt::ExtraFile> extra;
      if (is_full_) extra.push_back({ckpt::kTrainStateFile, ckpt::write_train_state(*source_.train_state)});
      ckpt::publish_step(calls_, parent, temporary, manifest_, reports, extra);
    } catch (...) {
      ckpt::give_up_step(calls_, temporary);
      throw;
    }
    return parent / ckpt::step_name(manifest_.step);
  }

 private:
  ckpt::ShardReport write_shard(std::size_t number, const std::filesystem::path& folder) {
    const Shard& shard = shards_[number];
    const std::uint64_t bytes = bytes_of_shard(shard);
    bytes_.resize(bytes);
    std::vector<ckpt::WantedPart> wanted;
    std::vector<ckpt::HeldPart> held;
    std::byte* data = bytes_.data();
    for (const Piece& piece : shard) {
      wanted.push_back({piece.tensor, piece.box, data});
      held.push_back({piece.tensor, piece.box, data});
      data += piece.bytes();
    }
    // Reading is one half of the work, writing the other.
    ckpt::read_parts(source_, wanted,
                     {.rules = {.may_convert = true}, .progress = [&](std::uint64_t done, std::uint64_t total) {
                        report(total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total) / 2, bytes);
                      }});
    const ckpt::ShardLayout layout = ckpt::lay_out_shard(held, manifest_.save_id);
    const std::string name =
        ckpt::shard_name(static_cast<std::int64_t>(number), static_cast<std::int64_t>(shards_.size()));
    ckpt::ShardReport written = ckpt::write_shard(calls_, folder / name, layout);
    done_ += bytes;
    report(0, 0);
    return written;
  }

  void report(double share, std::uint64_t bytes) const {
    if (!options_.progress) return;
    options_.progress(done_ + static_cast<std::uint64_t>(share * static_cast<double>(bytes)), total_);
  }

  ckpt::SystemCalls& calls_;
  const ckpt::Source& source_;
  const TitanExport& options_;
  bool is_full_;
  std::vector<Shard> shards_;
  ckpt::Manifest manifest_;
  std::vector<std::byte> bytes_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

std::filesystem::path export_titan(ckpt::SystemCalls& calls, const ckpt::Source& source,
                                   const std::filesystem::path& parent, const TitanExport& options) {
  return TitanWriter(calls, source, options).write(parent);
}

}  // namespace titan::app
