#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/data/shard_reader.hpp"

namespace titan::data {

/// What decides which rows a stream has. A saved position means something only in an equal stream.
struct StreamIdentity {
  std::string dataset;  // fingerprint
  std::int64_t documents = 0;
  std::string tokenizer;  // fingerprint
  std::int64_t length = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  std::int64_t shards = 0;

  friend bool operator==(const StreamIdentity&, const StreamIdentity&) = default;
};

/// How far a stream got: rows of all ranks, and the cursors of the shards that are known.
struct StreamPosition {
  std::int64_t rows = 0;
  std::map<std::int64_t, Cursor> cursors;
};

struct StreamState {
  StreamIdentity identity;
  StreamPosition position;
};

/// The state as JSON text.
std::string write_state(const StreamState& state);
/// Reads what write_state wrote. DataError: not such a text, or of another version.
StreamState read_state(std::string_view text);
/// Throws a DataError that names the first difference and what to do about it.
void check_same_stream(const StreamIdentity& saved, const StreamIdentity& here);
/// Joins states of the same stream after the same number of rows; of a shard in several, the cursor that is further.
StreamState merge_states(std::span<const StreamState> states);

}  // namespace titan::data
