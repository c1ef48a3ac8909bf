#include "core/data/shard_reader.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"
#include "core/data/shuffle.hpp"

namespace titan::data {

ShardReader::ShardReader(const ShardSource& source, std::int64_t shard, std::uint64_t first_document,
                         std::uint64_t num_documents)
    : source_(source),
      shard_(shard),
      first_document_(first_document),
      num_documents_(static_cast<std::int64_t>(num_documents)) {}

std::int64_t ShardReader::take_row(const Row& row) { return fill(&row); }

std::int64_t ShardReader::skip_row() { return fill(nullptr); }

bool ShardReader::is_finished() const { return !source_.repeat && cursor_.document >= num_documents_; }

void ShardReader::restore(const Cursor& cursor) {
  const bool possible = cursor.rows >= 0 && cursor.epoch >= 0 && cursor.document >= 0 &&
                        cursor.document <= num_documents_ && cursor.pair >= 0 &&
                        (cursor.pair == 0 || cursor.document < num_documents_);
  if (!possible) throw DataError("[data] the saved state names a place that the data does not have: shard ", shard_);
  cursor_ = cursor;
  epoch_is_empty_ = false;
  ids_.clear();
}

std::int64_t ShardReader::fill(const Row* row) {
  std::int64_t filled = 0;
  while (filled < source_.length && prepare_document()) {
    const std::int64_t count = std::min(source_.length - filled, num_pairs() - cursor_.pair);
    if (row != nullptr) copy_pairs(*row, filled, count);
    filled += count;
    cursor_.pair += count;
    if (cursor_.pair == num_pairs()) {
      ++cursor_.document;
      cursor_.pair = 0;
      ids_.clear();
    }
  }
  if (filled > 0) ++cursor_.rows;
  return filled;
}

/// Makes ids_ the tokens of the document at the cursor, with a pair left to take; passes over documents without a pair.
bool ShardReader::prepare_document() {
  while (ids_.empty()) {
    if (source_.stop != nullptr) source_.stop->check();
    if (is_finished()) return false;
    if (cursor_.document >= num_documents_) begin_next_epoch();
    if (source_.shuffle && order_epoch_ != cursor_.epoch) {
      order_ = shuffled_order(static_cast<std::uint64_t>(num_documents_), source_.seed,
                              static_cast<std::uint64_t>(cursor_.epoch), static_cast<std::uint64_t>(shard_));
      order_epoch_ = cursor_.epoch;
    }
    const auto place = static_cast<std::size_t>(cursor_.document);
    const std::uint64_t document = first_document_ + (source_.shuffle ? order_[place] : place);
    ids_ = source_.tokenizer->encode(source_.corpus->read(document), true, true);
    if (cursor_.pair > 0 && cursor_.pair >= num_pairs()) {
      throw DataError("[data] the saved state names a place that the data does not have: shard ", shard_, ", document ",
                      document);
    }
    if (ids_.size() < 2) {
      ids_.clear();
      ++cursor_.document;
      continue;
    }
    epoch_is_empty_ = false;
  }
  return true;
}

void ShardReader::begin_next_epoch() {
  // Without a pair in all documents no row would ever be full.
  if (epoch_is_empty_) {
    throw DataError("[data] no document of a virtual shard has two tokens: shard ", shard_, ", documents ",
                    first_document_, " to ", first_document_ + static_cast<std::uint64_t>(num_documents_) - 1,
                    " (lower dataloader.num_virtual_shards)");
  }
  ++cursor_.epoch;
  cursor_.document = 0;
  epoch_is_empty_ = true;
}

void ShardReader::copy_pairs(const Row& row, std::int64_t at, std::int64_t count) const {
  const auto first = ids_.begin() + cursor_.pair;
  std::copy(first, first + count, row.tokens + at);
  std::copy(first + 1, first + 1 + count, row.labels + at);
  // A row begins at position 0 even inside a document: positions stay below the row's length.
  std::iota(row.positions + at, row.positions + at + count, std::int64_t{0});
}

}  // namespace titan::data
