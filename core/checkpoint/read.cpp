#include "core/checkpoint/read.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/checkpoint/damage.hpp"
#include "core/checkpoint/file_pieces.hpp"
#include "core/checkpoint/read_plan.hpp"
#include "core/checkpoint/whole_hash.hpp"

namespace titan::checkpoint {

namespace {

/// Bytes that are hashed and then copied at once, where there are no blocks.
constexpr std::uint64_t kWindow = std::uint64_t{1} << 20U;

/// Where a file of the source is: its name alone, so that nothing outside the source's folder is opened.
std::filesystem::path path_of(const Source& source, const StoredFile& file) {
  return source.folder / file.path.filename();
}

InputFile open_file(const Source& source, const StoredFile& file) {
  InputFile input = open_patiently(path_of(source, file));
  if (input.size() == file.size) return input;
  throw DataError("[checkpoint] a file has another size: ", printable(input.path().native()), ": ", input.size(),
                  " bytes, expected ", file.size);
}

/// Files that have to be hashed as a whole before anything of them is used.
std::vector<const StoredFile*> files_to_hash(const Source& source, const ReadPlan& plan) {
  std::vector<const StoredFile*> files;
  for (std::size_t i = 0; i < source.files.size(); ++i) {
    const StoredFile& file = source.files[i];
    const bool is_open = file.whole_hash != nullptr && !file.whole_hash->was_right();
    if (is_open && !plan.files()[i].ranges.empty()) files.push_back(&file);
  }
  return files;
}

/// Fills the wanted parts from one file of the source.
class FileReader {
 public:
  FileReader(const Source& source, const ReadPlan& plan, std::uint32_t file)
      : source_(source),
        plan_(plan),
        number_(file),
        file_(source.files[file]),
        overlaps_(plan.files()[file].overlaps) {}

  /// `done` is told after each piece how many bytes it had.
  template <class Done>
  void read(const Done& done) {
    const InputFile input = open_file(source_, file_);
    FilePieces pieces(input, plan_.files()[number_].ranges, piece_size());
    while (const Piece* const piece = pieces.next()) {
      take(*piece);
      done(piece->size);
    }
  }

 private:
  /// Whole blocks, as many as make a large read.
  std::uint64_t piece_size() const {
    if (file_.block_size == 0) return kPieceSize;
    return std::max<std::uint64_t>(kPieceSize / file_.block_size, 1) * file_.block_size;
  }

  void take(const Piece& piece) {
    const std::uint64_t window = file_.block_size != 0 ? file_.block_size : kWindow;
    for (std::uint64_t at = 0; at < piece.size; at += window) {
      const auto bytes = piece.memory.subspan(at, std::min(window, piece.size - at));
      if (file_.block_size != 0) verify(piece.begin + at, bytes);
      copy(piece.begin + at, bytes);
    }
  }

  void verify(std::uint64_t begin, std::span<const std::byte> bytes) const {
    if (is_block_right(file_, begin / file_.block_size, bytes)) return;
    const FileRange range{begin, begin + bytes.size()};
    throw DataError("[checkpoint] damaged file: ", printable(path_of(source_, file_).native()), ": bytes ", range.begin,
                    " to ", range.end, ", ", place_of(source_, number_, range));
  }

  void copy(std::uint64_t begin, std::span<const std::byte> bytes) {
    for (; next_ < overlaps_.size() && overlaps_[next_].bytes.begin < begin + bytes.size(); ++next_) {
      active_.push_back(plan_.copier(overlaps_[next_]));
    }
    for (RunCopier& copier : active_) copier.copy(begin, bytes);
    std::erase_if(active_, [](const RunCopier& copier) { return copier.is_done(); });
  }

  const Source& source_;
  const ReadPlan& plan_;
  std::uint32_t number_;
  const StoredFile& file_;
  const std::vector<ReadPlan::Overlap>& overlaps_;
  std::size_t next_ = 0;           // of the overlaps
  std::vector<RunCopier> active_;  // those that the bytes at hand have some of
};

}  // namespace

void read_parts(const Source& source, std::span<const WantedPart> wanted, const ReadOptions& options) {
  require_fit(source, wanted, options.rules);
  const ReadPlan plan(source, wanted);
  const std::vector<const StoredFile*> to_hash = files_to_hash(source, plan);
  std::uint64_t done = 0, total = plan.total();
  for (const StoredFile* file : to_hash) total += file->size;
  const auto tell = [&](std::uint64_t bytes) {
    done += bytes;
    if (options.progress) options.progress(done, total);
  };
  for (const StoredFile* file : to_hash) file->whole_hash->require(open_file(source, *file), tell);
  for (std::uint32_t file = 0; file < source.files.size(); ++file) {
    if (plan.files()[file].ranges.empty()) continue;
    FileReader(source, plan, file).read(tell);
  }
}

}  // namespace titan::checkpoint
