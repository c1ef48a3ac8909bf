#include "tests/faults/dumps.hpp"

#include <sys/stat.h>

namespace titan::cli {

DumpsOfRanks::DumpsOfRanks(const std::filesystem::path& dump_folder) {
  const std::filesystem::path folder = dump_folder / "comm_traces";
  if (!std::filesystem::exists(folder)) return;
  dumps_ = trace::read_dumps(folder, "rank_");
  for (const trace::UnreadableDump& bad : dumps_.unreadable) ADD_FAILURE() << bad.rank << ": " << bad.reason;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().filename() == "earlier") continue;  // of the run before
    struct stat status {};
    EXPECT_EQ(::stat(file.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << file.path();
    EXPECT_FALSE(file.path().filename().native().starts_with('.')) << file.path();
  }
}

const trace::Dump* DumpsOfRanks::find(std::int64_t rank) const {
  for (const trace::Dump& dump : dumps_.ranks) {
    if (dump.rank == rank && dump.facts) return &dump;
  }
  return nullptr;
}

std::set<std::int64_t> DumpsOfRanks::ranks() const {
  std::set<std::int64_t> ranks;
  for (const trace::Dump& dump : dumps_.ranks) ranks.insert(dump.rank);
  return ranks;
}

std::string DumpsOfRanks::cause(std::int64_t rank) const {
  const trace::Dump* const dump = find(rank);
  return dump == nullptr ? std::string() : dump->facts->cause;
}

std::string DumpsOfRanks::place(std::int64_t rank) const {
  const trace::Dump* const dump = find(rank);
  return dump == nullptr ? std::string() : dump->facts->place;
}

std::string DumpsOfRanks::reason(std::int64_t rank) const {
  const trace::Dump* const dump = find(rank);
  return dump == nullptr ? std::string() : dump->facts->reason;
}

std::vector<std::string> DumpsOfRanks::open_calls(std::int64_t rank) const {
  std::vector<std::string> calls;
  const trace::Dump* const dump = find(rank);
  if (dump == nullptr) return calls;
  for (const trace::Call& call : dump->calls) {
    if (!call.is_done) calls.emplace_back(dumps_.text(call.op));
  }
  return calls;
}

}  // namespace titan::cli
