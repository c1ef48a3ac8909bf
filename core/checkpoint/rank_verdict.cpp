#include "core/checkpoint/rank_verdict.hpp"

#include <algorithm>
#include <new>

#include "core/base/number.hpp"

namespace titan::checkpoint {

namespace {

// An act, a letter, an exit code and the text, each in a line of its own but for the text.
constexpr char kSeparator = '\n';
constexpr std::size_t kLongestFailure = 4096;

constexpr std::string_view kLetters = "wdf";

std::string write_verdict(std::string_view act, const RankVerdict& verdict) {
  return concat(act, kSeparator, kLetters[static_cast<std::size_t>(verdict.kind)], kSeparator,
                static_cast<int>(verdict.exit), kSeparator, verdict.text);
}

/// Cuts the part before the next separator off `rest`.
std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(kSeparator), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

RankVerdict read_verdict(std::string_view act, std::string_view text, std::size_t rank) {
  std::string_view rest = text;
  const std::string_view their_act = next_line(rest);
  const std::string_view letter = next_line(rest);
  const auto exit = parse_number<int>(next_line(rest));
  if (their_act != act || letter.size() != 1 || kLetters.find(letter) == std::string_view::npos || !exit) {
    throw InternalError("[checkpoint] ranks are not at the same place of a save: this one at ", act, ", rank ", rank,
                        " at ", printable(their_act));
  }
  return {static_cast<RankVerdict::Kind>(kLetters.find(letter)), std::string(rest), static_cast<Exit>(*exit)};
}

RankVerdict failure(Exit exit, std::string_view text) {
  return {RankVerdict::Kind::failed, shortened(text, kLongestFailure), exit};
}

}  // namespace

RankVerdict verdict_of(const std::function<std::string()>& action) {
  try {
    return {RankVerdict::Kind::done, action()};
  } catch (const Error& error) {
    return failure(error.exit(), error.what());
  } catch (const std::bad_alloc&) {
    return failure(Exit::resource, "out of memory");
  } catch (const std::exception& error) {
    return failure(Exit::internal, error.what());
  } catch (...) {
    return failure(Exit::internal, "unknown C++ exception");
  }
}

std::vector<RankVerdict> exchange(Team& team, std::string_view act, const RankVerdict& mine) {
  std::vector<RankVerdict> verdicts;
  for (const std::string& text : team.gather(write_verdict(act, mine))) {
    verdicts.push_back(read_verdict(act, text, verdicts.size()));
  }
  return verdicts;
}

bool any_is(const std::vector<RankVerdict>& verdicts, RankVerdict::Kind kind) {
  return std::any_of(verdicts.begin(), verdicts.end(), [kind](const RankVerdict& one) { return one.kind == kind; });
}

void require_success(std::string_view act, const std::vector<RankVerdict>& verdicts) {
  const auto failed = std::find_if(verdicts.begin(), verdicts.end(),
                                   [](const RankVerdict& one) { return one.kind == RankVerdict::Kind::failed; });
  if (failed == verdicts.end()) return;
  constexpr std::string_view kTag = "[checkpoint] ";
  std::string_view why = failed->text;
  if (why.starts_with(kTag)) why.remove_prefix(kTag.size());
  const std::string text = concat(kTag, act, " failed on rank ", failed - verdicts.begin(), ": ", why);
  switch (failed->exit) {
    case Exit::cannot_create:
      throw CreateError(text);
    case Exit::io:
      throw IoError(text);
    case Exit::data:
      throw DataError(text);
    case Exit::no_input:
      throw InputError(text);
    case Exit::resource:
      throw ResourceError(text);
    case Exit::config:
      throw ConfigError(text);
    case Exit::internal:
      throw InternalError(text);
    default:
      throw Error(failed->exit, text);
  }
}

}  // namespace titan::checkpoint
