#include "core/checkpoint/whole_hash.hpp"

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/file_pieces.hpp"

namespace titan::checkpoint {

bool WholeHash::was_right() const {
  const std::lock_guard lock(mutex_);
  return was_right_;
}

void WholeHash::require(const InputFile& file, const std::function<void(std::uint64_t bytes)>& done) const {
  const std::lock_guard lock(mutex_);
  if (was_right_) return;
  Hash128 hash;
  FilePieces pieces(file, {{0, file.size()}}, kPieceSize);
  while (const Piece* const piece = pieces.next()) {
    hash.update(piece->memory.first(piece->size));
    done(piece->size);
  }
  if (hash.digest() != hash_) {
    throw DataError("[checkpoint] damaged file: ", printable(file.path().native()),
                    ": its hash is not the one in the manifest");
  }
  was_right_ = true;
}

}  // namespace titan::checkpoint
