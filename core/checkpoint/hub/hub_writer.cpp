#include "core/checkpoint/hub/hub_writer.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/checkpoint/hub/hub_names.hpp"
#include "core/checkpoint/output_file.hpp"
#include "core/checkpoint/pieces.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/safetensors.hpp"

namespace titan::checkpoint {
namespace {

// Large enough that the blocks that two pieces share are read twice for little.
constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t kAlignment = 8;

std::uint64_t rows_of(const HubTensor& tensor) {
  return tensor.tensor.shape.empty() ? 1 : static_cast<std::uint64_t>(tensor.tensor.shape[0]);
}

/// The rows as a box of our tensor.
Box box_of(const HubTensor& tensor, std::int64_t begin, std::int64_t end) {
  Box box{std::vector<std::int64_t>(tensor.ours.shape.size(), 0), tensor.ours.shape};
  std::size_t dim = 0;
  if (tensor.index >= 0) {
    box.offset[dim] = tensor.index;
    box.size[dim++] = 1;
  }
  if (dim < box.size.size()) {
    box.offset[dim] = begin;
    box.size[dim] = end - begin;
  }
  return box;
}

std::string header_of(const HubFile& file) {
  std::vector<SafetensorsEntry> entries;
  for (const HubTensor& tensor : file.tensors) entries.push_back({tensor.tensor, 0, 0});
  return write_safetensors_header(entries, {{"format", "pt"}}, kAlignment);
}

std::uint64_t bytes_of(const HubFile& file) {
  return std::accumulate(file.tensors.begin(), file.tensors.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const HubTensor& tensor) { return sum + tensor.bytes(); });
}

}  // namespace

HubWriter::HubWriter(SystemCalls& calls, const Source& source, const std::filesystem::path& folder)
    : calls_(calls), source_(source), folder_(folder) {}

void HubWriter::write(const HubFile& file, const std::function<void(std::uint64_t bytes)>& written) {
  const std::string header = header_of(file);
  OutputFile output(calls_, folder_ / file.name, header.size() + bytes_of(file));
  output.write(std::as_bytes(std::span(header)));
  std::vector<Piece> pieces;
  for (const HubTensor& tensor : file.tensors) {
    for (const Piece& piece : pieces_of(tensor)) pieces.push_back(piece);
  }
  in_batches(
      pieces, kPieceBytes, [](const Piece& piece) { return piece.bytes; },
      [&](std::span<const Piece> batch, std::uint64_t size) {
        bytes_.resize(size);
        read(batch);
        reorder(batch);
        output.write(bytes_);
        written(size);
      });
  output.finish();
}

std::vector<HubWriter::Piece> HubWriter::pieces_of(const HubTensor& tensor) const {
  std::vector<Piece> pieces;
  const std::uint64_t bytes = tensor.bytes(), rows = rows_of(tensor);
  if (bytes == 0) return pieces;
  const std::uint64_t row_bytes = bytes / rows;
  const std::uint64_t unit = tensor.rows_a_head > 0 ? static_cast<std::uint64_t>(tensor.rows_a_head) : 1;
  const std::uint64_t step = std::max<std::uint64_t>(1, kPieceBytes / (unit * row_bytes)) * unit;
  for (std::uint64_t begin = 0; begin < rows; begin += step) {
    const std::uint64_t end = std::min(rows, begin + step);
    pieces.push_back(
        {&tensor, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), (end - begin) * row_bytes});
  }
  return pieces;
}

void HubWriter::read(std::span<const Piece> pieces) {
  std::vector<WantedPart> wanted;
  std::byte* data = bytes_.data();
  for (const Piece& piece : pieces) {
    wanted.push_back({piece.tensor->ours, box_of(*piece.tensor, piece.begin, piece.end), data});
    data += piece.bytes;
  }
  read_parts(source_, wanted, {.rules = {.may_convert = true}});
}

void HubWriter::reorder(std::span<const Piece> pieces) {
  std::byte* data = bytes_.data();
  for (const Piece& piece : pieces) {
    if (piece.tensor->rows_a_head > 0) {
      rows_.assign(data, data + piece.bytes);
      const auto rows = piece.end - piece.begin;
      const std::uint64_t row_bytes = piece.bytes / static_cast<std::uint64_t>(rows);
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto there = static_cast<std::uint64_t>(hub_row(row, piece.tensor->rows_a_head));
        std::memcpy(data + there * row_bytes, rows_.data() + static_cast<std::uint64_t>(row) * row_bytes, row_bytes);
      }
    }
    data += piece.bytes;
  }
}

}  // namespace titan::checkpoint
