#include <algorithm>
#include <iterator>
#include <map>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/listing.hpp"
#include "core/base/number.hpp"
#include "core/trace/dump.hpp"

namespace titan::trace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnPrefix = "rank_";
constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20U;

/// Files of one prefix, by rank.
using RankFiles = std::map<std::int64_t, fs::path>;

/// Every regular file whose name ends in a number, by what comes before it.
std::map<std::string, RankFiles> files_by_prefix(const fs::path& folder) {
  std::map<std::string, RankFiles> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const auto rank = parse_number<std::int64_t>(std::string_view(name).substr(digits));
    std::error_code ignored;
    if (!rank || name.starts_with('.') || !entry->is_regular_file(ignored)) continue;
    found[name.substr(0, digits)].emplace(*rank, entry->path());
  }
  if (error) throw InputError("[trace] cannot list folder: ", printable(folder.native()), ": ", error.message());
  return found;
}

RankFiles choose_files(const fs::path& folder, const std::optional<std::string>& prefix) {
  std::map<std::string, RankFiles> found = files_by_prefix(folder);
  if (prefix) return found[*prefix];
  if (const auto own = found.find(kOwnPrefix); own != found.end()) return own->second;
  if (found.size() < 2) return found.empty() ? RankFiles() : found.begin()->second;
  std::vector<std::string> names;
  for (const auto& [name, files] : found) names.push_back(name);
  throw UsageError("[trace] files of several prefixes, say which with --prefix: ", join_first(names), ", in ",
                   printable(folder.native()));
}

bool was_asked_for(const Dump& dump) { return dump.facts && dump.facts->cause == "request"; }
bool holds_last_words(const Dump& dump) {
  const std::string cause = dump.facts ? dump.facts->cause : "";
  return cause == "timeout" || cause == "error" || cause == "stop";
}

/// Moves those that meet the condition.
template <class Condition>
void move_dumps(std::vector<Dump>& from, std::vector<Dump>& to, const Condition& condition) {
  std::copy_if(from.begin(), from.end(), std::back_inserter(to), condition);
  std::erase_if(from, condition);
}

/// A rank that is killed leaves what somebody asked it for before: compared with the last words of the others it would
/// seem to be where it was then.
void set_older_aside(Dumps& dumps) {
  if (!std::any_of(dumps.ranks.begin(), dumps.ranks.end(), holds_last_words)) return;
  move_dumps(dumps.ranks, dumps.older, was_asked_for);
}

std::int64_t newest_call(const Dump& dump) {
  std::int64_t newest = 0;
  for (const Call& call : dump.calls) newest = std::max(newest, call.created_ns);
  return newest;
}

/// What a larger run left in the same folder is nothing that this one did.
void set_other_runs_aside(Dumps& dumps) {
  std::int64_t world_size = 0, newest = -1;
  for (const Dump& dump : dumps.ranks) {
    if (!dump.facts || newest_call(dump) <= newest) continue;
    newest = newest_call(dump);
    world_size = dump.facts->world_size;
  }
  move_dumps(dumps.ranks, dumps.others,
             [&](const Dump& dump) { return dump.facts && dump.facts->world_size != world_size; });
}

/// A copy under another name would be compared with itself.
void refuse_other_rank(Dumps& dumps) {
  const Dump& dump = dumps.ranks.back();
  if (!dump.facts || dump.facts->rank < 0 || dump.facts->rank == dump.rank) return;
  const std::string reason = concat("[trace] a dump of rank ", dump.facts->rank, " is named as one of rank ", dump.rank,
                                    ": ", printable(dump.file), ": a copy, or dumps of several runs in one folder");
  dumps.unreadable.push_back({dump.rank, reason});
  dumps.ranks.pop_back();
}

void read_one(const fs::path& path, std::int64_t rank, Dumps& dumps) {
  try {
    read_dump(read_file(path, kMostBytes), rank, path.native(), dumps);
    refuse_other_rank(dumps);
  } catch (const InputError& error) {
    dumps.unreadable.push_back({rank, error.what(), true});
  } catch (const Error& error) {
    dumps.unreadable.push_back({rank, error.what()});
  }
}

}  // namespace

Dumps read_dumps(const fs::path& folder, const std::optional<std::string>& prefix) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw InputError("[trace] no such folder: ", printable(folder.native()),
                     ": dumps are in the folder comm_traces of a run");
  }
  const fs::path inner = folder / kDumpsFolder;
  const fs::path& place = fs::is_directory(inner, ignored) ? inner : folder;
  const RankFiles files = choose_files(place, prefix);
  if (files.empty()) {
    throw InputError("[trace] no dumps in folder: ", printable(place.native()), ": they are named ",
                     printable(prefix.value_or(kOwnPrefix)), "0, ", printable(prefix.value_or(kOwnPrefix)), "1, ...");
  }
  Dumps dumps;
  dumps.folder = place.native();
  for (const auto& [rank, path] : files) {
    read_one(path, rank, dumps);
  }
  set_other_runs_aside(dumps);
  set_older_aside(dumps);
  return dumps;
}

}  // namespace titan::trace
