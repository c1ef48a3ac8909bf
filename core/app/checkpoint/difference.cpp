#include "core/app/checkpoint/difference.hpp"

#include <algorithm>
#include <span>

#include "core/app/checkpoint/tensor_comparison.hpp"
#include "core/app/checkpoint/tensor_facts.hpp"
#include "core/base/text.hpp"
#include "core/checkpoint/pieces.hpp"
#include "core/checkpoint/read.hpp"

namespace titan::app {
namespace {

using checkpoint::Source;
using checkpoint::StoredTensor;

// Of one checkpoint at once. Reading takes whole blocks, which are large in a large file: many pieces share theirs.
constexpr std::uint64_t kMostBytesAtOnce = std::uint64_t{32} << 20U;

/// A piece of a tensor that both have.
struct Piece {
  const std::string* name;
  Box box;
  std::uint64_t a_bytes, b_bytes;
  bool is_last;  // of its tensor
};

std::uint64_t bytes_of_box(const Box& box, const StoredTensor& tensor) {
  return static_cast<std::uint64_t>(checkpoint::num_elements(box.size)) * checkpoint::element_size(tensor.dtype);
}

/// One comparison of two checkpoints.
class CheckpointComparison {
 public:
  CheckpointComparison(const Source& a, const Source& b) : a_(a), b_(b) {}

  Difference run(const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
    const std::vector<std::string> common = compare_structure();
    const std::vector<Piece> pieces = pieces_of(common);
    std::uint64_t done = 0;
    checkpoint::in_batches(
        pieces, kMostBytesAtOnce, [](const Piece& piece) { return std::max(piece.a_bytes, piece.b_bytes); },
        [&](std::span<const Piece> batch, std::uint64_t) {
          done += compare(batch);
          progress(done, difference_.num_bytes);
        });
    std::ranges::sort(difference_.values, [](const TensorDifference& x, const TensorDifference& y) {
      return x.relative != y.relative ? x.relative > y.relative : x.name < y.name;
    });
    return std::move(difference_);
  }

 private:
  /// Says what differs besides values, and which tensors can be compared.
  std::vector<std::string> compare_structure() {
    std::vector<std::string> common;
    for (const auto& [name, of_a] : a_.tensors) {
      const auto found = b_.tensors.find(name);
      if (found == b_.tensors.end()) {
        difference_.only_a.push_back(name);
        continue;
      }
      const StoredTensor& of_b = found->second;
      if (of_a.shape != of_b.shape) {
        difference_.shapes.push_back(
            concat(name, ": ", checkpoint::shape_text(of_a.shape), " and ", checkpoint::shape_text(of_b.shape)));
        continue;
      }
      if (of_a.dtype != of_b.dtype) {
        difference_.dtypes.push_back(
            concat(name, ": ", checkpoint::torch_name(of_a.dtype), " and ", checkpoint::torch_name(of_b.dtype)));
      }
      common.push_back(name);
      difference_.num_bytes += bytes_of(of_a);
    }
    for (const auto& [name, of_b] : b_.tensors) {
      if (!a_.tensors.contains(name)) difference_.only_b.push_back(name);
    }
    difference_.num_compared = common.size();
    return common;
  }

  std::vector<Piece> pieces_of(const std::vector<std::string>& names) const {
    std::vector<Piece> pieces;
    for (const std::string& name : names) {
      const StoredTensor &of_a = a_.tensors.at(name), &of_b = b_.tensors.at(name);
      const std::size_t width = std::max(checkpoint::element_size(of_a.dtype), checkpoint::element_size(of_b.dtype));
      const Box whole{std::vector<std::int64_t>(of_a.shape.size(), 0), of_a.shape};
      for (Box& box : checkpoint::pieces_of(whole, kMostBytesAtOnce / width)) {
        const std::uint64_t a_bytes = bytes_of_box(box, of_a), b_bytes = bytes_of_box(box, of_b);
        pieces.push_back({&name, std::move(box), a_bytes, b_bytes, false});
      }
      if (!pieces.empty() && pieces.back().name == &name) pieces.back().is_last = true;
    }
    return pieces;
  }

  /// Fills the bytes with the pieces, one after the other.
  static void read(const Source& source, std::span<const Piece> pieces, std::uint64_t Piece::*size,
                   std::vector<std::byte>& bytes) {
    std::uint64_t all = 0;
    for (const Piece& piece : pieces) all += piece.*size;
    bytes.resize(static_cast<std::size_t>(all));
    std::vector<checkpoint::WantedPart> wanted;
    std::byte* data = bytes.data();
    for (const Piece& piece : pieces) {
      const StoredTensor& stored = source.tensors.at(*piece.name);
      wanted.push_back({{*piece.name, stored.dtype, stored.shape}, piece.box, data});
      data += piece.*size;
    }
    checkpoint::read_parts(source, wanted);
  }

  /// Returns how many bytes of A were compared.
  std::uint64_t compare(std::span<const Piece> pieces) {
    read(a_, pieces, &Piece::a_bytes, a_bytes_);
    read(b_, pieces, &Piece::b_bytes, b_bytes_);
    const std::byte *a = a_bytes_.data(), *b = b_bytes_.data();
    for (const Piece& piece : pieces) {
      comparison_.add({{a, piece.a_bytes}, a_.tensors.at(*piece.name).dtype},
                      {{b, piece.b_bytes}, b_.tensors.at(*piece.name).dtype});
      a += piece.a_bytes;
      b += piece.b_bytes;
      if (!piece.is_last) continue;
      TensorDifference found = comparison_.finish();
      found.name = *piece.name;
      if (found.num_differing > 0) difference_.values.push_back(std::move(found));
      comparison_ = {};
    }
    return a_bytes_.size();
  }

  const Source& a_;
  const Source& b_;
  std::vector<std::byte> a_bytes_, b_bytes_;  // of one batch
  TensorComparison comparison_;               // of the tensor at hand
  Difference difference_;
};

}  // namespace

bool Difference::is_equal(std::optional<double> tolerance) const {
  if (!only_a.empty() || !only_b.empty() || !shapes.empty()) return false;
  if (!tolerance) return dtypes.empty() && values.empty();
  return std::ranges::all_of(values, [&](const TensorDifference& value) { return value.relative <= *tolerance; });
}

Difference compare_checkpoints(const Source& a, const Source& b,
                               const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  return CheckpointComparison(a, b).run(progress);
}

}  // namespace titan::app
