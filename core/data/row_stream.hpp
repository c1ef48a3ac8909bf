#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/data/corpus.hpp"
#include "core/data/loader.hpp"
#include "core/data/shard_reader.hpp"
#include "core/data/stream_state.hpp"

namespace titan::data {

/// The rows of one data-parallel rank, made on the calling thread. Used by one thread.
class RowStream {
 public:
  /// Errors as Loader's constructor.
  RowStream(const LoaderOptions& options, std::shared_ptr<const Tokenizer> tokenizer, const StopFlag* stop);
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;

  /// The next batch; none at the end of the stream.
  std::optional<Batch> next();

  /// Rows of all ranks so far, and the shards that this rank reads.
  StreamPosition position() const;
  void restore(const StreamPosition& position);
  const StreamIdentity& identity() const { return identity_; }
  const DatasetSummary& summary() const { return summary_; }

 private:
  void open_shards(const StopFlag* stop);
  bool fill_row(Batch& batch, std::int64_t row);
  ShardReader& reader_of(std::int64_t shard);
  bool all_finished() const;
  void pad(const Row& row, std::int64_t filled) const;

  LoaderOptions options_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Corpus corpus_;
  StreamIdentity identity_;
  DatasetSummary summary_;
  std::int64_t stride_ = 1;  // this rank reads every stride-th shard
  std::vector<ShardReader> readers_;
  std::int64_t rows_ = 0;  // of all ranks
  std::int64_t next_ = 0;  // number of this rank's next row in the global stream
  bool ended_ = false;
};

}  // namespace titan::data
