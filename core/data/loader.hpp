#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

struct LoaderOptions {
  std::filesystem::path path;  // a file or folder of .jsonl, .jsonl.gz or .txt
  std::int64_t length = 2048;  // tokens a row
  std::int64_t rows_per_batch = 8;
  std::uint64_t seed = 42;
  bool shuffle = true;
  bool repeat = true;  // false: the stream ends after one epoch
  std::int64_t num_virtual_shards = 128;
  std::int64_t num_prefetch_batches = 2;
  std::int64_t dp_rank = 0;
  std::int64_t dp_degree = 1;
};

/// One data-parallel rank's view of the one global stream of rows (row i comes from virtual shard i mod S and goes to
/// dp rank i mod d). Prefetches on its own thread. Used by one thread.
class Loader {
 public:
  /// InputError: missing path. DataError: no documents, or a broken line (FILE:LINE). ConfigError: impossible sizes.
  Loader(LoaderOptions options, std::shared_ptr<const Tokenizer> tokenizer, const StopFlag* stop = nullptr);
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  /// The next batch; none when the stream ended (rows that do not fill a batch are dropped). Errors as the constructor,
  /// and Interrupted.
  std::optional<Batch> next();

  /// Cursors of the rows handed out so far, as JSON text. A loader of any dp degree resumes from it exactly.
  std::string state() const;
  /// Continues after `state`. DataError when it does not belong to this data set, tokenizer or length.
  void load_state(const std::string& state);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titan::data
