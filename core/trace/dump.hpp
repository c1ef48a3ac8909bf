#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pickle/texts.hpp"

/// Flight-recorder dumps: what each rank recorded of its collectives, as PyTorch and titan write them.
namespace titan::trace {

/// The usual folder of dumps in that of a run.
inline constexpr const char* kDumpsFolder = "comm_traces";

/// A call of a collective, or of a send or receive, as one rank recorded it. Texts by their numbers in Dumps.
struct Call {
  std::uint32_t group = 0;    // of the dump's groups
  std::int64_t sequence = 0;  // number of the call in its group; of sends and receives their own numbers
  bool is_p2p = false, is_done = false;
  std::int64_t source = -1, target = -1;  // of sends and receives: ranks in the group
  std::uint32_t op = 0;                   // "all_reduce"
  std::uint32_t title = 0;                // what the caller knows the group by: "fsdp"
  std::uint32_t input = 0, output = 0;    // shapes and dtypes: "[4, 3] Float"
  std::uint32_t state = 0;                // "scheduled", "started", "completed"
  std::uint32_t module = pickle::Texts::kNone;
  std::uint32_t place = pickle::Texts::kNone;  // of the caller's stack: "worker at train.py:27"
  std::int64_t created_ns = 0;                 // since 1970
};

/// A group of ranks as one dump names it.
struct DumpGroup {
  std::string name, description;
  std::vector<std::int64_t> ranks;  // in order; empty: the dump does not say

  /// What a person knows it by.
  const std::string& title() const { return description.empty() || description == "undefined" ? name : description; }
};

/// What titan adds.
struct DumpFacts {
  std::string place, cause, reason;
  std::int64_t world_size = 0, forgotten = 0;
  std::int64_t rank = -1;  // that wrote it; -1: it does not say
};

struct Dump {
  std::int64_t rank = 0;
  std::string file, version;
  std::vector<DumpGroup> groups;
  std::vector<Call> calls;  // oldest first
  bool is_whole = true;     // no older calls were dropped
  std::optional<DumpFacts> facts;
};

/// A file that should have been a dump.
struct UnreadableDump {
  std::int64_t rank = 0;
  std::string reason;
  bool is_closed = false;  // it cannot be opened: what it holds is not known
};

struct Dumps {
  std::string folder;
  pickle::Texts texts;
  std::vector<Dump> ranks;  // by rank
  std::vector<UnreadableDump> unreadable;
  std::vector<Dump>
      older;  // not of the moment when the others failed: asked for before, by a rank that wrote none then
  std::vector<Dump> others;  // of another run, which had another number of ranks

  /// The text of that number; empty for none.
  std::string_view text(std::uint32_t number) const;
};

/// Reads one dump and adds it. DataError names `source` and what is wrong with it.
void read_dump(std::string bytes, std::int64_t rank, const std::string& source, Dumps& dumps);

/// Reads all files of a folder whose names are `prefix` and a rank; without a prefix the one that they all have, or
/// "rank_". A folder of a run is searched for its comm_traces. InputError: no folder, or no dumps in it; UsageError:
/// several prefixes. A file that is no dump, or another
/// rank's than its name says, is listed; one that was asked for before others failed is set aside, and so
/// is one of another run than the newest: it says another number of ranks.
Dumps read_dumps(const std::filesystem::path& folder, const std::optional<std::string>& prefix);

}  // namespace titan::trace
