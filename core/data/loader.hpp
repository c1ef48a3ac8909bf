#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/stop.hpp"
#include "core/data/tokenizer.hpp"

namespace titan::data {

/// Rows of packed text. All arrays are [rows, length], row-major. A label of -100 is ignored by the loss.
struct Batch {
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> positions;  // restart at 0 with each document
  std::int64_t num_valid = 0;           // labels other than -100
};

/// What becomes of the text that does not fill a row when a stream without repetition ends.
enum class Tail {
  drop,  // the stream ends at the first row that its shard cannot fill: every row is full (training)
  pad,   // nothing is left out: short rows and the last batch are filled up with ignored labels, and rows of finished
         // shards are passed over (validation; ranks may end after different numbers of batches)
};

struct LoaderOptions {
  std::filesystem::path path;  // a file or folder of .jsonl, .jsonl.gz or .txt
  std::int64_t length = 2048;  // tokens a row
  std::int64_t rows_per_batch = 8;
  std::uint64_t seed = 42;
  bool shuffle = true;
  bool repeat = true;  // false: the stream ends after one epoch
  Tail tail = Tail::drop;
  std::int64_t num_virtual_shards = 128;
  std::int64_t num_prefetch_batches = 2;
  std::int64_t dp_rank = 0;
  std::int64_t dp_degree = 1;
};

/// What a loader reads.
struct DatasetSummary {
  std::int64_t files = 0;
  std::int64_t documents = 0;
  std::int64_t shards = 0;  // the smaller of num_virtual_shards and documents
  std::string fingerprint;  // hash of the text; the same for a file and its compressed form
};

/// One data-parallel rank's view of the one global stream of rows (row i comes from virtual shard i mod S and goes to
/// dp rank i mod d). A row holds pairs of token and next token; a document of n tokens gives n - 1 pairs, so that EOS
/// is never an input, BOS never a target, and no target lies in another document. Prefetches on its own thread. Used by
/// one thread.
class Loader {
 public:
  /// InputError: a missing or unreadable path, or no documents in it. DataError: a broken line (FILE:LINE).
  /// ConfigError: impossible sizes. Interrupted: a stop was requested.
  Loader(LoaderOptions options, std::shared_ptr<const Tokenizer> tokenizer, const StopFlag* stop = nullptr);
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// The next batch; none when the stream ended (with Tail::drop, rows that do not fill a batch are dropped). Errors as
  /// the constructor.
  std::optional<Batch> next();

  /// Cursors of the rows handed out so far, as JSON text. It names the shards that this rank reads: all of them unless
  /// the dp degree shares a factor with their number.
  std::string state() const;
  /// Continues after `state`. DataError when it does not belong to this data set, tokenizer or length, or lacks a shard
  /// that this rank reads.
  void load_state(const std::string& state);
  /// Joins the states of all ranks, taken after the same number of batches, into one that any rank of any dp degree can
  /// load.
  static std::string merge_states(std::span<const std::string> states);

  const DatasetSummary& dataset() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titan::data
