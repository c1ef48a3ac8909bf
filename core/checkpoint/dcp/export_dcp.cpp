#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/dcp/export_plan.hpp"
#include "core/checkpoint/dcp/object_writer.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/output_file.hpp"
#include "core/checkpoint/pieces.hpp"
#include "core/checkpoint/read.hpp"

namespace titan::checkpoint {
namespace {

// Large enough that the blocks that two pieces share are read twice for little.
constexpr std::uint64_t kMostBytesAtOnce = std::uint64_t{64} << 20U;

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Files that are removed again unless all were written, the last one first: metadata names the others.
class NewFiles {
 public:
  explicit NewFiles(SystemCalls& calls) : calls_(calls) {}
  ~NewFiles() {
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) calls_.unlink(path->c_str());
  }
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;

  void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  SystemCalls& calls_;
  std::vector<std::filesystem::path> paths_;
};

/// Some elements of an item that are read and written at once.
struct Piece {
  const PlannedItem* item = nullptr;
  Box box;
  std::uint64_t num_bytes = 0;
  bool is_first = false, is_last = false;
};

std::vector<Piece> pieces_of_file(const std::vector<PlannedItem>& items) {
  std::vector<Piece> pieces;
  for (const PlannedItem& item : items) {
    const std::uint64_t width = element_size(item.tensor->dtype);
    const std::size_t first = pieces.size();
    for (Box& box : pieces_of(item.chunk->box, kMostBytesAtOnce / width)) {
      const std::uint64_t size = static_cast<std::uint64_t>(num_elements(box.size)) * width;
      pieces.push_back({&item, std::move(box), size});
    }
    pieces[first].is_first = true;
    pieces.back().is_last = true;
  }
  return pieces;
}

/// Writes the chunks of one file.
class ChunkWriter {
 public:
  ChunkWriter(const Source& source, OutputFile& file) : source_(source), file_(file) {}

  /// Reads pieces that follow each other, kMostBytesAtOnce in all, and writes them and what is around them.
  void write(std::span<const Piece> pieces) {
    lay_out(pieces);
    std::vector<WantedPart> wanted;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const PlannedItem& item = *pieces[i].item;
      wanted.push_back({{*item.name, item.tensor->dtype, item.tensor->shape}, pieces[i].box, &bytes_[places_[i]]});
    }
    read_parts(source_, wanted);
    for (std::size_t i = 0; i < pieces.size(); ++i) close(pieces[i], places_[i]);
    file_.write(bytes_);
  }

 private:
  static SavedTensorFrame frame_of(const Piece& piece) {
    return {piece.item->tensor->dtype, piece.item->chunk->box.size};
  }

  /// Makes room for the pieces, and writes what comes before the first ones of an item.
  void lay_out(std::span<const Piece> pieces) {
    bytes_.clear();
    places_.clear();
    for (const Piece& piece : pieces) {
      if (piece.is_first) append(frame_of(piece).head());
      places_.push_back(bytes_.size());
      bytes_.resize(bytes_.size() + static_cast<std::size_t>(piece.num_bytes));
      if (piece.is_last) append(frame_of(piece).tail(0));
    }
  }

  void append(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  /// Takes the checksum of a piece that was read, and writes what comes behind the last one of an item.
  void close(const Piece& piece, std::size_t place) {
    if (piece.is_first) checksum_ = 0;
    const auto size = static_cast<std::size_t>(piece.num_bytes);
    checksum_ = ::crc32_z(checksum_, reinterpret_cast<const Bytef*>(&bytes_[place]), size);
    if (!piece.is_last) return;
    const std::string tail = frame_of(piece).tail(static_cast<std::uint32_t>(checksum_));
    std::memcpy(&bytes_[place + size], tail.data(), tail.size());
  }

  const Source& source_;
  OutputFile& file_;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> places_;  // of the pieces in the bytes
  uLong checksum_ = 0;               // of the item so far
};

void write_tensors(const Source& source, OutputFile& file, const std::vector<PlannedItem>& items,
                   const std::function<void(std::uint64_t)>& written) {
  ChunkWriter writer(source, file);
  const std::vector<Piece> pieces = pieces_of_file(items);
  in_batches(
      pieces, kMostBytesAtOnce, [](const Piece& piece) { return piece.num_bytes; },
      [&](std::span<const Piece> batch, std::uint64_t size) {
        writer.write(batch);
        written(size);
      });
}

void write_metadata(SystemCalls& calls, NewFiles& new_files, const ExportPlan& plan,
                    const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kDcpMetadataFile, temporary = concat(path.native(), ".tmp");
  write_new_file(calls, temporary, write_dcp_metadata(plan.metadata));
  new_files.add(temporary);
  sync_folder(calls, folder);
  if (calls.rename(temporary.c_str(), path.c_str()) != 0) {
    throw CreateError("[checkpoint] cannot create file: ", printable(path.native()), ": ", reason_of(errno));
  }
  new_files.add(path);
  sync_folder(calls, folder);
  new_files.keep();
}

}  // namespace

void export_dcp(SystemCalls& calls, const Source& source, const std::filesystem::path& folder,
                const Progress& progress) {
  const ExportPlan plan(source);
  NewFiles new_files(calls);
  std::uint64_t done = 0;
  const auto written = [&](std::uint64_t bytes) {
    done += bytes;
    if (progress) progress(done, plan.num_bytes);
  };
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const std::filesystem::path path = folder / plan.metadata.files[i];
    OutputFile file(calls, path, plan.sizes[i]);
    new_files.add(path);
    write_tensors(source, file, plan.files[i], written);
    if (i == 0) {
      for (const std::string& object : plan.objects) file.write(std::as_bytes(std::span(object)));
    }
    file.finish();
  }
  write_metadata(calls, new_files, plan, folder);
}

}  // namespace titan::checkpoint
