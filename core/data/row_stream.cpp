#include "core/data/row_stream.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/error.hpp"

namespace titan::data {

namespace {

constexpr std::int64_t kMaxShards = 65536;
constexpr std::int64_t kMaxTokensPerBatch = std::int64_t{1} << 31U;
constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24U;

void check_range(const char* what, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return;
  throw ConfigError("[data] ", what, " must lie between ", lowest, " and ", highest, ": ", value);
}

const LoaderOptions& checked(const LoaderOptions& options) {
  check_range("the row length (training.max_context_length)", options.length, 1, kMaxTokensPerBatch);
  check_range("rows a batch", options.rows_per_batch, 1, kMaxTokensPerBatch / options.length);
  check_range("dataloader.num_virtual_shards", options.num_virtual_shards, 1, kMaxShards);
  check_range("dataloader.num_prefetch_batches", options.num_prefetch_batches, 0, 1024);
  check_range("the data-parallel degree", options.dp_degree, 1, kMaxRanks);
  check_range("the data-parallel rank", options.dp_rank, 0, options.dp_degree - 1);
  return options;
}

Batch empty_batch(std::int64_t rows, std::int64_t length) {
  Batch batch;
  batch.rows = rows;
  batch.length = length;
  for (auto* array : {&batch.tokens, &batch.labels, &batch.positions}) {
    array->resize(static_cast<std::size_t>(rows * length));
  }
  return batch;
}

Row row_of(Batch& batch, std::int64_t row) {
  const std::int64_t at = row * batch.length;
  return {batch.tokens.data() + at, batch.labels.data() + at, batch.positions.data() + at};
}

/// How many of the first `rows` rows of the global stream come from a shard.
std::int64_t rows_from(std::int64_t shard, std::int64_t shards, std::int64_t rows) {
  return rows > shard ? (rows - shard - 1) / shards + 1 : 0;
}

/// The first row from `begin` on that goes to a rank.
std::int64_t first_row(std::int64_t begin, std::int64_t rank, std::int64_t degree) {
  const std::int64_t ahead = (rank - begin % degree + degree) % degree;
  return begin + ahead;
}

}  // namespace

RowStream::RowStream(const LoaderOptions& options, std::shared_ptr<const Tokenizer> tokenizer, const StopFlag* stop)
    : options_(checked(options)), tokenizer_(std::move(tokenizer)), corpus_(options.path, stop) {
  const auto documents = static_cast<std::int64_t>(corpus_.num_documents());
  const std::int64_t shards = std::min(options.num_virtual_shards, documents);
  summary_ = {static_cast<std::int64_t>(corpus_.num_files()), documents, shards, corpus_.fingerprint()};
  identity_ = {corpus_.fingerprint(), documents, tokenizer_->fingerprint(), options.length, options.seed,
               options.shuffle,       shards};
  open_shards(stop);
  next_ = first_row(0, options_.dp_rank, options_.dp_degree);
}

void RowStream::open_shards(const StopFlag* stop) {
  const ShardSource source{.corpus = &corpus_,
                           .tokenizer = tokenizer_.get(),
                           .stop = stop,
                           .length = options_.length,
                           .seed = options_.seed,
                           .shuffle = options_.shuffle,
                           .repeat = options_.repeat};
  const std::int64_t documents = identity_.documents;
  const std::int64_t shards = identity_.shards;
  const std::int64_t size = documents / shards;
  const std::int64_t larger = documents % shards;  // so many shards have one document more
  check_range("documents in a virtual shard", size, 1, UINT32_MAX - 1);
  stride_ = std::gcd(options_.dp_degree, shards);
  for (std::int64_t shard = options_.dp_rank % stride_; shard < shards; shard += stride_) {
    const std::int64_t first = shard * size + std::min(shard, larger);
    readers_.emplace_back(source, shard, first, size + (shard < larger ? 1 : 0));
  }
}

ShardReader& RowStream::reader_of(std::int64_t shard) { return readers_[static_cast<std::size_t>(shard / stride_)]; }

bool RowStream::all_finished() const {
  return std::all_of(readers_.begin(), readers_.end(), [](const ShardReader& reader) { return reader.is_finished(); });
}

std::optional<Batch> RowStream::next() {
  if (ended_) return std::nullopt;
  Batch batch = empty_batch(options_.rows_per_batch, options_.length);
  std::int64_t row = 0;
  while (row < batch.rows && !ended_) {
    if (fill_row(batch, row)) ++row;
  }
  if (row == 0 || (row < batch.rows && options_.tail == Tail::drop)) return std::nullopt;
  for (; row < batch.rows; ++row) pad(row_of(batch, row), 0);
  batch.num_valid = std::count_if(batch.labels.begin(), batch.labels.end(),
                                  [](std::int64_t label) { return label != kIgnoredLabel; });
  return batch;
}

/// Takes this rank's next row of the global stream. Returns false when its shard has none; sets ended_ at the end.
bool RowStream::fill_row(Batch& batch, std::int64_t row) {
  ShardReader& reader = reader_of(next_ % identity_.shards);
  const std::int64_t wanted = next_ / identity_.shards;
  const Row destination = row_of(batch, row);
  // Rows between belong to other ranks.
  while (reader.cursor().rows < wanted && reader.skip_row() > 0) {
  }
  const std::int64_t filled = reader.cursor().rows == wanted ? reader.take_row(destination) : 0;
  next_ += options_.dp_degree;
  rows_ += options_.dp_degree;
  if (options_.tail == Tail::drop) {
    ended_ = filled < options_.length;
    return !ended_;
  }
  if (filled > 0) pad(destination, filled);
  ended_ = all_finished();
  return filled > 0;
}

/// Fills the rest of a row with tokens that the loss ignores.
void RowStream::pad(const Row& row, std::int64_t filled) const {
  std::fill(row.tokens + filled, row.tokens + options_.length, tokenizer_->eos_id().value_or(0));
  std::fill(row.labels + filled, row.labels + options_.length, kIgnoredLabel);
  std::iota(row.positions + filled, row.positions + options_.length, std::int64_t{0});
}

StreamPosition RowStream::position() const {
  StreamPosition result;
  result.rows = rows_;
  for (const ShardReader& reader : readers_) result.cursors.emplace(reader.shard(), reader.cursor());
  return result;
}

void RowStream::restore(const StreamPosition& saved) {
  for (ShardReader& reader : readers_) {
    const auto found = saved.cursors.find(reader.shard());
    if (found == saved.cursors.end()) {
      throw DataError("[data] the saved state lacks a shard that this rank reads: shard ", reader.shard(),
                      " (merge the states of all ranks)");
    }
    const std::int64_t behind = rows_from(reader.shard(), identity_.shards, saved.rows) - found->second.rows;
    if (behind < 0 || behind > kMaxRanks) {
      throw DataError("[data] the saved state contradicts itself: rows ", saved.rows, ", shard ", reader.shard(),
                      " at its row ", found->second.rows);
    }
    reader.restore(found->second);
  }
  rows_ = saved.rows;
  next_ = first_row(rows_, options_.dp_rank, options_.dp_degree);
  ended_ = false;
}

}  // namespace titan::data
