#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/dcp/export_plan.hpp"
#include "core/checkpoint/dcp/object_writer.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/output_file.hpp"
#include "core/checkpoint/read.hpp"

namespace titan::checkpoint {
namespace {

// Large enough that the blocks that two pieces share are read twice for little.
constexpr std::uint64_t kMostBytesAtOnce = std::uint64_t{64} << 20U;

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Files that are removed again unless all were written.
class NewFiles {
 public:
  explicit NewFiles(SystemCalls& calls) : calls_(calls) {}
  ~NewFiles() {
    for (const std::filesystem::path& path : paths_) calls_.unlink(path.c_str());
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

void write_text(OutputFile& file, std::string_view text) { file.write(std::as_bytes(std::span(text))); }

/// Writes the chunks of one file.
class ChunkWriter {
 public:
  ChunkWriter(const Source& source, OutputFile& file) : source_(source), file_(file) {}

  /// Reads and writes pieces that follow each other, kMostBytesAtOnce in all.
  void write(std::span<const Piece> pieces) {
    std::vector<WantedPart> wanted;
    std::uint64_t size = 0;
    for (const Piece& piece : pieces) size += piece.num_bytes;
    bytes_.resize(static_cast<std::size_t>(size));
    std::byte* data = bytes_.data();
    for (const Piece& piece : pieces) {
      wanted.push_back({{*piece.item->name, piece.item->tensor->dtype, piece.item->tensor->shape}, piece.box, data});
      data += piece.num_bytes;
    }
    read_parts(source_, wanted);
    data = bytes_.data();
    for (const Piece& piece : pieces) {
      write(piece, {data, static_cast<std::size_t>(piece.num_bytes)});
      data += piece.num_bytes;
    }
  }

 private:
  void write(const Piece& piece, std::span<const std::byte> bytes) {
    const SavedTensorFrame frame(piece.item->tensor->dtype, piece.item->chunk->box.size);
    if (piece.is_first) {
      checksum_ = 0;
      write_text(file_, frame.head());
    }
    checksum_ = ::crc32_z(checksum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    file_.write(bytes);
    if (piece.is_last) write_text(file_, frame.tail(static_cast<std::uint32_t>(checksum_)));
  }

  const Source& source_;
  OutputFile& file_;
  std::vector<std::byte> bytes_;
  uLong checksum_ = 0;  // of the item so far
};

void write_tensors(const Source& source, OutputFile& file, const std::vector<PlannedItem>& items,
                   const std::function<void(std::uint64_t)>& written) {
  ChunkWriter writer(source, file);
  const std::vector<Piece> pieces = pieces_of_file(items);
  for (auto begin = pieces.begin(); begin != pieces.end();) {
    std::uint64_t size = begin->num_bytes;
    auto end = begin + 1;
    while (end != pieces.end() && size + end->num_bytes <= kMostBytesAtOnce) size += (end++)->num_bytes;
    writer.write({begin, end});
    written(size);
    begin = end;
  }
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
  new_files.keep();
  sync_folder(calls, folder);
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
      for (const std::string& object : plan.objects) write_text(file, object);
    }
    file.finish();
  }
  write_metadata(calls, new_files, plan, folder);
}

}  // namespace titan::checkpoint
