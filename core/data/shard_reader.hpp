#pragma once

#include <cstdint>
#include <vector>

#include "core/base/stop.hpp"
#include "core/data/corpus.hpp"
#include "core/data/tokenizer.hpp"

namespace titan::data {

/// Label that the loss ignores.
inline constexpr std::int64_t kIgnoredLabel = -100;

/// Where a virtual shard stands: between two rows.
struct Cursor {
  std::int64_t rows = 0;      // rows that were taken
  std::int64_t epoch = 0;     // times that all documents were used up
  std::int64_t document = 0;  // place, in this epoch's order, of the document that the next row begins with
  std::int64_t pair = 0;      // pairs of that document that earlier rows took
};

/// Destination of one row: three arrays of the row's length.
struct Row {
  std::int64_t* tokens = nullptr;
  std::int64_t* labels = nullptr;
  std::int64_t* positions = nullptr;
};

/// What all shards of a stream have in common. The pointers outlive the readers.
struct ShardSource {
  Corpus* corpus = nullptr;
  const Tokenizer* tokenizer = nullptr;
  const StopFlag* stop = nullptr;
  std::int64_t length = 0;  // pairs a row
  std::uint64_t seed = 0;
  bool shuffle = true;
  bool repeat = true;
};

/// One virtual shard: a range of documents, tokenised one after another in an order of its own each epoch, and cut into
/// rows. A document that does not fit goes on in the next row; positions count from 0 at the begin of a document and of
/// a row. Used by one thread.
class ShardReader {
 public:
  ShardReader(const ShardSource& source, std::int64_t shard, std::uint64_t first_document, std::uint64_t num_documents);

  /// Takes the next row and returns how many pairs it has: the length, fewer at the end of a shard without repetition,
  /// 0 behind it. Errors as Corpus::read and Tokenizer::encode; DataError when an epoch has not one pair.
  std::int64_t take_row(const Row& row);
  /// Takes a row without giving it out; the same result.
  std::int64_t skip_row();

  std::int64_t shard() const { return shard_; }
  /// Says whether no document is left.
  bool is_finished() const;
  const Cursor& cursor() const { return cursor_; }
  /// Goes to a place that a cursor() gave. DataError when this shard has no such place.
  void restore(const Cursor& cursor);

 private:
  std::int64_t fill(const Row* row);
  bool prepare_document();
  void begin_next_epoch();
  void copy_pairs(const Row& row, std::int64_t at, std::int64_t count) const;
  std::int64_t num_pairs() const { return static_cast<std::int64_t>(ids_.size()) - 1; }

  ShardSource source_;
  std::int64_t shard_;
  std::uint64_t first_document_;
  std::int64_t num_documents_;
  Cursor cursor_;
  bool epoch_is_empty_ = true;        // no pair was seen since the epoch began
  std::vector<std::uint32_t> order_;  // of order_epoch_; empty without shuffling
  std::int64_t order_epoch_ = -1;
  std::vector<std::int64_t> ids_;  // of the current document; empty until it is needed
};

}  // namespace titan::data
