#include "core/launch/launch_options.hpp"

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/config/problems.hpp"
#include "core/launch/option_values.hpp"

namespace titan::launch {
namespace {

// A process and two pipes each: more than a machine has use for.
constexpr std::int64_t kMostLocalRanks = 1024;
constexpr std::int64_t kMostNodes = 65536;
constexpr std::int64_t kDefaultPort = 29500;
constexpr double kMostSeconds = 1e7;

/// Reads flags and collects what is wrong with them.
class FlagReader {
 public:
  FlagReader(const config::CommandLine& line, config::Problems& problems) : line_(line), problems_(problems) {}

  bool has(std::string_view flag) const { return line_.has(flag); }
  std::string text(std::string_view flag, std::string_view otherwise = {}) const { return line_.last(flag, otherwise); }

  void refuse(std::string_view flag, std::string_view why) {
    problems_.add_usage(concat("--", flag, ": ", why, ", got \"", shortened(printable(text(flag)), 100), '"'));
  }

  std::int64_t whole(std::string_view flag, std::int64_t otherwise, std::int64_t lowest, std::int64_t highest) {
    if (!has(flag)) return otherwise;
    const auto value = parse_whole(text(flag), lowest, highest);
    if (!value) refuse(flag, concat("expected a whole number from ", lowest, " to ", highest));
    return value.value_or(otherwise);
  }

 private:
  const config::CommandLine& line_;
  config::Problems& problems_;
};

void read_size(FlagReader& flags, config::Problems& problems, LaunchOptions& out) {
  out.num_local_ranks = flags.whole("nproc-per-node", 1, 1, kMostLocalRanks);
  if (flags.text("nnodes").find(':') != std::string::npos) {
    flags.refuse("nnodes", "a range of nodes (an elastic job) cannot be launched; name one number");
    return;
  }
  out.num_nodes = flags.whole("nnodes", 1, 1, kMostNodes);
  if (out.num_nodes > 1 && !flags.has("node-rank")) {
    problems.add_usage(
        "--node-rank: needed with more than one node: 0 on the node of the meeting point, 1, 2, ... on "
        "the others (under Slurm: $SLURM_NODEID)");
  }
  out.node_rank = flags.whole("node-rank", 0, 0, out.num_nodes - 1);
}

void read_fixed(FlagReader& flags) {
  if (flags.has("max-restarts") && flags.text("max-restarts") != "0") {
    flags.refuse("max-restarts", "ranks are not started again, only 0 is accepted");
  }
  const std::string backend = flags.text("rdzv-backend", "c10d");
  if (backend != "c10d" && backend != "static") {
    flags.refuse("rdzv-backend", "ranks meet at a store that rank 0 serves: c10d or static");
  }
}

std::optional<Endpoint> named_endpoint(FlagReader& flags) {
  if (flags.has("rdzv-endpoint")) {
    const auto endpoint = parse_endpoint(flags.text("rdzv-endpoint"), kDefaultPort);
    if (!endpoint) flags.refuse("rdzv-endpoint", "expected HOST:PORT");
    return endpoint;
  }
  if (!flags.has("master-addr") && !flags.has("master-port")) return std::nullopt;
  const std::int64_t port = flags.whole("master-port", kDefaultPort, 0, 65535);
  auto endpoint = parse_endpoint(flags.text("master-addr", "127.0.0.1"), port);
  if (!endpoint || endpoint->port != port) {
    flags.refuse("master-addr", "expected a host without a port (--master-port sets that)");
    return std::nullopt;
  }
  return endpoint;
}

void read_meeting_point(FlagReader& flags, config::Problems& problems, LaunchOptions& out) {
  const bool is_named_twice = flags.has("rdzv-endpoint") && (flags.has("master-addr") || flags.has("master-port"));
  if (is_named_twice)
    problems.add_usage("--rdzv-endpoint, --master-addr: both name the meeting point; give one of them");
  const std::optional<Endpoint> named = named_endpoint(flags);
  if (named) out.meeting_point = *named;
  if (out.num_nodes == 1) return;
  if (!named && !is_named_twice) {
    problems.add_usage("--rdzv-endpoint: needed with more than one node: HOST:PORT of node 0, the same on all");
  } else if (named && named->port == 0) {
    problems.add_usage("--rdzv-endpoint: several nodes cannot agree on port 0 (any that is free); name one");
  }
}

/// torchrun's numbers: 1 standard output, 2 standard error, 3 both.
StreamUse stream_use(std::int64_t bit, std::int64_t tee, std::int64_t redirects) {
  if ((tee & bit) != 0) return {.to_console = true, .to_file = true};
  return {.to_console = (redirects & bit) == 0, .to_file = (redirects & bit) != 0};
}

void read_output(FlagReader& flags, LaunchOptions& out) {
  const std::int64_t redirects = flags.whole("redirects", 0, 0, 3);
  const std::int64_t tee = flags.whole("tee", flags.has("redirects") ? 0 : 3, 0, 3);
  out.standard_output = stream_use(1, tee, redirects);
  out.standard_error = stream_use(2, tee, redirects);
  if (flags.has("log-dir")) out.log_folder = flags.text("log-dir");
  if (out.log_folder && out.log_folder->empty()) flags.refuse("log-dir", "expected a folder");
  out.role = flags.text("role", "rank");
  const auto is_odd = [](unsigned char c) { return c < 0x21 || c > 0x7e || c == '[' || c == ']'; };
  if (out.role.empty() || out.role.size() > 64 || std::ranges::any_of(out.role, is_odd)) {
    flags.refuse("role", "expected 1 to 64 letters, digits or signs, without spaces and brackets");
  }
}

void read_grace(FlagReader& flags, LaunchOptions& out) {
  if (!flags.has("grace-seconds")) return;
  const auto seconds = parse_seconds(flags.text("grace-seconds"));
  if (!seconds || *seconds > kMostSeconds) flags.refuse("grace-seconds", "expected seconds from 0 to 1e7");
  out.grace_seconds = std::min(seconds.value_or(out.grace_seconds), kMostSeconds);
}

/// `--local-ranks-filter` counts on the node, LOG_RANK over all nodes; the flag, which is nearer, wins.
void read_shown_ranks(FlagReader& flags, const std::optional<std::string>& log_rank, config::Problems& problems,
                      LaunchOptions& out) {
  if (flags.has("local-ranks-filter")) {
    const auto ranks = parse_ranks(flags.text("local-ranks-filter"), out.num_local_ranks);
    if (!ranks) {
      flags.refuse("local-ranks-filter",
                   concat("expected local ranks, separated by commas, from 0 to ", out.num_local_ranks - 1));
    }
    for (const std::int64_t local : ranks.value_or(std::vector<std::int64_t>()))
      out.shown_ranks.push_back(out.rank(local));
    return;
  }
  std::optional<std::vector<std::int64_t>> asked_for;
  if (log_rank && !log_rank->empty()) {
    asked_for = parse_ranks(*log_rank, out.world_size());
    if (!asked_for) {
      problems.add_value(concat("LOG_RANK: expected ranks, separated by commas, from 0 to ", out.world_size() - 1,
                                ", got \"", shortened(printable(*log_rank), 100), '"'));
    }
  }
  for (std::int64_t local = 0; local < out.num_local_ranks; ++local) {
    const std::int64_t rank = out.rank(local);
    if (!asked_for || std::ranges::binary_search(*asked_for, rank)) out.shown_ranks.push_back(rank);
  }
}

std::vector<config::Flag> flags_of_ranks() {
  return {{.name = "nproc-per-node", .metavar = "N", .help = "Ranks on this node. Default: 1."},
          {.name = "nnodes", .metavar = "N", .help = "Nodes of the job, each with as many ranks. Default: 1."},
          {.name = "node-rank", .metavar = "K", .help = "Which of the nodes this is, from 0; needed with several."},
          {.name = "rdzv-endpoint",
           .metavar = "HOST:PORT",
           .help = "Where ranks meet: an address of node 0. Needed with several nodes; with one it is 127.0.0.1 and a "
                   "free port."},
          {.name = "master-addr", .metavar = "HOST", .help = "The same, host and port apart."},
          {.name = "master-port", .metavar = "PORT", .help = "Its port; 0: one that is free. Default: 29500."},
          {.name = "rdzv-id", .metavar = "ID", .help = "Name of the job, the same on all nodes."},
          {.name = "rdzv-backend", .metavar = "NAME", .help = "c10d or static: rank 0 serves the store either way."},
          {.name = "standalone", .metavar = {}, .help = "One node, a free port: what is done anyway."},
          {.name = "max-restarts", .metavar = "0", .help = "Only 0: ranks are not started again."}};
}

std::vector<config::Flag> flags_of_output() {
  return {{.name = "role", .metavar = "NAME", .help = "First part of the prefix of console lines. Default: rank."},
          {.name = "tee",
           .metavar = "0|1|2|3",
           .help = "Streams of every rank that go to console and file: none, 1 output, 2 errors, 3 both. Default: 3, "
                   "or 0 with --redirects."},
          {.name = "redirects",
           .metavar = "0|1|2|3",
           .help = "Streams that go to the file alone. A stream in neither goes to the console alone."},
          {.name = "local-ranks-filter",
           .metavar = "RANKS",
           .help = "Local ranks of this node that appear on the console: 0,3. Without it the variable LOG_RANK says so "
                   "with global ranks: rank = node rank x ranks per node + local rank, and a node shows those of its "
                   "own. Default: all. Files are written of all."},
          {.name = "log-dir", .metavar = "DIR", .help = "Folder of the files. Default: logs in the run's dump_folder."},
          {.name = "grace-seconds",
           .metavar = "S",
           .help = "How long ranks may take to leave by themselves after one failed, or after a signal. Default: 30."}};
}

}  // namespace

std::vector<config::Flag> launch_flags() {
  std::vector<config::Flag> flags = flags_of_ranks();
  std::ranges::move(flags_of_output(), std::back_inserter(flags));
  return flags;
}

LaunchOptions read_launch_options(const config::CommandLine& line,
                                  const std::function<std::optional<std::string>(const char* name)>& variable) {
  config::Problems problems;
  FlagReader flags(line, problems);
  LaunchOptions out;
  read_size(flags, problems, out);
  read_fixed(flags);
  if (flags.has("standalone") && (out.num_nodes > 1 || flags.has("rdzv-endpoint") || flags.has("master-addr"))) {
    problems.add_usage("--standalone: is for one node and no meeting point; leave it or the others out");
  }
  read_meeting_point(flags, problems, out);
  read_output(flags, out);
  read_grace(flags, out);
  read_shown_ranks(flags, variable("LOG_RANK"), problems, out);
  out.run_id = flags.text("rdzv-id", out.num_nodes > 1 ? "none" : "");
  out.command = line.rest;
  problems.throw_if_any();
  return out;
}

}  // namespace titan::launch
