#include <algorithm>
#include <map>
#include <optional>

#include "core/base/error.hpp"
#include "core/checkpoint/block_hashes.hpp"
#include "core/checkpoint/damage.hpp"
#include "core/checkpoint/file_pieces.hpp"
#include "core/checkpoint/read.hpp"

namespace titan::checkpoint {

namespace {

/// Findings that name the tensors they are in.
constexpr std::size_t kMostNamed = 100;

/// A file that is to be verified, and what is known of it.
struct Expected {
  std::string name;
  std::uint64_t size = 0;
  std::string hash;                   // of the whole; empty: not known
  std::optional<std::uint32_t> file;  // of the source, when it holds tensors
};

std::vector<Expected> expected_files(const Source& source) {
  std::vector<Expected> files;
  for (std::uint32_t i = 0; i < source.files.size(); ++i) {
    files.push_back({source.files[i].path.filename().string(), source.files[i].size, {}, i});
  }
  if (!source.manifest) return files;
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < files.size(); ++i) numbers.emplace(files[i].name, i);
  for (const ManifestFile& listed : source.manifest->files) {
    const auto known = numbers.find(listed.name);
    if (known == numbers.end()) {
      files.push_back({listed.name, listed.size, listed.hash, std::nullopt});
    } else {
      files[known->second].size = listed.size;
      files[known->second].hash = listed.hash;
    }
  }
  return files;
}

class Verifier {
 public:
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  Verifier(const Source& source, const Progress& progress)
      : source_(source), progress_(progress), files_(expected_files(source)) {
    for (const Expected& file : files_) total_ += file.size;
  }

  std::vector<std::string> run() {
    for (const Expected& file : files_) {
      try {
        check(file);
      } catch (const Error& error) {
        if (error.exit() != Exit::data && error.exit() != Exit::no_input && error.exit() != Exit::io) throw;
        fail(file, error.what());
      }
    }
    return std::move(faults_);
  }

 private:
  template <class... Parts>
  void fail(const Expected& file, const Parts&... fault) {
    faults_.push_back(concat(printable(file.name), ": ", fault...));
  }

  void check(const Expected& file) {
    const InputFile input = open_patiently(source_.folder / file.name);
    if (input.size() != file.size) return fail(file, input.size(), " bytes, expected ", file.size);
    const std::uint64_t block_size = file.file ? source_.files[*file.file].block_size : 0;
    BlockHashes hashes(block_size);
    FilePieces pieces(input, {{0, file.size}}, kPieceSize);
    while (const Piece* const piece = pieces.next()) {
      hashes.update(piece->memory.first(piece->size));
      done_ += piece->size;
      if (progress_) progress_(done_, total_);
    }
    if (block_size == 0 || compare_blocks(file, hashes.blocks())) {
      if (!file.hash.empty() && hashes.whole() != file.hash) fail(file, "damaged: hash is not the manifest's");
    }
  }

  /// Returns whether all are right.
  bool compare_blocks(const Expected& file, const std::vector<std::string>& hashes) {
    const StoredFile& stored = source_.files[*file.file];
    if (hashes.size() != stored.block_hashes.size()) {
      fail(file, "the index has another number of blocks: ", stored.block_hashes.size(), ", expected ", hashes.size());
      return false;
    }
    bool are_right = true;
    for (std::uint64_t block = 0; block < hashes.size(); ++block) {
      if (hashes[block] == stored.block_hashes[block]) continue;
      const std::uint64_t begin = block * stored.block_size;
      const FileRange range{begin, std::min(begin + stored.block_size, stored.size)};
      // To find the tensors means to look at all of them.
      const bool is_named = faults_.size() < kMostNamed;
      fail(file, "damaged: bytes ", range.begin, " to ", range.end,
           is_named ? concat(", ", place_of(source_, *file.file, range)) : "");
      are_right = false;
    }
    return are_right;
  }

  const Source& source_;
  const Progress& progress_;
  std::vector<Expected> files_;
  std::uint64_t done_ = 0, total_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> verify(const Source& source,
                                const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  return Verifier(source, progress).run();
}

}  // namespace titan::checkpoint
