#include "plugins/observability/flight_recorder/fr_dump.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/observability/pickle_writer.hpp"
#include "titan/abi/tensor.h"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

/// Of the format, which PyTorch's analyser compares over the ranks.
constexpr std::string_view kVersion = "2.10";

/// The analyser's names, where c10d's differ.
std::string_view analysers_name(std::string_view op) {
  if (op == "_allgather_base") return "_all_gather_base";
  if (op == "alltoall_base") return "all_to_all";
  if (op == "barrier") return "all_reduce_barrier";
  return op;
}

std::string_view torch_dtype(std::int32_t dtype) {
  switch (dtype) {
    case TITAN_FLOAT64:
      return "Double";
    case TITAN_FLOAT32:
      return "Float";
    case TITAN_BFLOAT16:
      return "BFloat16";
    case TITAN_FLOAT16:
      return "Half";
    case TITAN_INT64:
      return "Long";
    case TITAN_INT32:
      return "Int";
    case TITAN_UINT8:
      return "Byte";
    case TITAN_BOOL8:
      return "Bool";
    default:
      return "Undefined";
  }
}

/// A failed call is one that did not get further; the analyser knows no other states.
std::string_view state_of(const titan_work_record& record) {
  if (record.state == TITAN_COLLECTIVE_COMPLETED) return "completed";
  return record.started > 0 ? "started" : "scheduled";
}

/// The group of a call as the analyser sees it.
struct Group {
  std::string name;
  std::string description;
  std::vector<std::int64_t> ranks;
  std::uint64_t enqueued = 0, started = 0, completed = 0;  // highest sequence numbers
};

std::vector<std::int64_t> members_of(const titan_work_record& record) {
  std::vector<std::int64_t> ranks(record.members, record.members + record.num_members);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += sdk::concat(text.empty() ? "" : ", ", number);
  return sdk::concat('[', text, ']');
}

bool is_send(const titan_work_record& record) { return sdk::view(record.op) == "send"; }

class Dump {
 public:
  Dump(const std::filesystem::path& path, const titan_dump_event& event, const DumpOwner& owner)
      : writer_(path), event_(event), owner_(owner) {}

  void write() {
    for (std::uint64_t i = 0; i < event_.num_records; ++i) note_group(*event_.records[i]);
    writer_.begin_dict();
    writer_.entry("version", kVersion);
    writer_.entry("comm_lib_version", "");
    write_groups();
    writer_.text("entries");
    writer_.begin_list();
    for (std::uint64_t i = 0; i < event_.num_records; ++i) write_entry(*event_.records[i]);
    writer_.end_list();
    write_facts();
    writer_.end_dict();
    writer_.finish();
  }

 private:
  std::int64_t source(const titan_work_record& record) const { return is_send(record) ? owner_.rank : record.peer; }
  std::int64_t target(const titan_work_record& record) const { return is_send(record) ? record.peer : owner_.rank; }

  std::string group_name(const titan_work_record& record) const {
    const std::string_view channel = sdk::view(record.channel);
    if (record.is_p2p == 0) return std::string(channel);
    return sdk::concat(channel, '/', source(record), "->", target(record));
  }

  void note_group(const titan_work_record& record) {
    const std::string name = group_name(record);
    const auto [found, is_new] = numbers_.emplace(name, groups_.size());
    if (is_new) {
      std::vector<std::int64_t> ranks =
          record.is_p2p == 0 ? members_of(record)
                             : std::vector{std::min(owner_.rank, record.peer), std::max(owner_.rank, record.peer)};
      // All ranks must describe a group in the same way: by what it is, not by the name of a call.
      groups_.push_back({name, name, std::move(ranks)});
    }
    Group& group = groups_[found->second];
    group.enqueued = std::max(group.enqueued, record.sequence);
    if (record.started > 0) group.started = std::max(group.started, record.sequence);
    if (record.state == TITAN_COLLECTIVE_COMPLETED) group.completed = std::max(group.completed, record.sequence);
  }

  void write_groups() {
    writer_.text("pg_config");
    writer_.begin_dict();
    for (const Group& group : groups_) {
      writer_.text(group.name);
      writer_.begin_dict();
      writer_.entry("name", group.name);
      writer_.entry("desc", group.description);
      writer_.entry("ranks", list_text(group.ranks));
      writer_.end_dict();
    }
    writer_.end_dict();
    writer_.text("pg_status");
    writer_.begin_dict();
    for (const Group& group : groups_) {
      writer_.text(group.name);
      writer_.begin_dict();
      writer_.entry("last_enqueued_collective", static_cast<std::int64_t>(group.enqueued));
      writer_.entry("last_started_collective", static_cast<std::int64_t>(group.started));
      writer_.entry("last_completed_collective", static_cast<std::int64_t>(group.completed));
      writer_.end_dict();
    }
    writer_.end_dict();
  }

  /// "nccl:all_reduce", "nccl:send 0->1": positions in the group.
  std::string profiling_name(const titan_work_record& record, const Group& group) const {
    const std::string_view op = sdk::view(record.op);
    if (record.is_p2p == 0) return sdk::concat("nccl:", analysers_name(op));
    const auto position = [&](std::int64_t rank) {
      return std::find(group.ranks.begin(), group.ranks.end(), rank) - group.ranks.begin();
    };
    const auto own = position(owner_.rank), peer = position(record.peer);
    return sdk::concat("nccl:", op, ' ', own, is_send(record) ? "->" : "<-", peer);
  }

  void write_entry(const titan_work_record& record) {
    const std::size_t number = numbers_.at(group_name(record));
    const Group& group = groups_[number];
    const auto sequence = static_cast<std::int64_t>(record.sequence);
    writer_.begin_dict();
    writer_.entry("record_id", static_cast<std::int64_t>(record.id) - 1);
    writer_.entry("pg_id", static_cast<std::int64_t>(number));
    writer_.text("process_group");
    writer_.begin_tuple();
    writer_.text(group.name);
    writer_.text(sdk::view(record.group));
    writer_.end_tuple();
    // The analyser matches calls by the first of these; in its own group a send has the number of its receive.
    writer_.entry("collective_seq_id", sequence);
    writer_.entry("p2p_seq_id", record.is_p2p == 0 ? 0 : sequence);
    writer_.entry("op_id", static_cast<std::int64_t>(record.id));
    writer_.entry("profiling_name", profiling_name(record, group));
    write_tensors(record);
    write_times(record);
    writer_.entry("state", state_of(record));
    writer_.entry("retired", record.is_retired != 0 && record.state == TITAN_COLLECTIVE_COMPLETED);
    writer_.entry("timeout_ms", record.timeout_ms);
    writer_.entry("is_p2p", record.is_p2p != 0);
    writer_.entry("module", sdk::view(record.module));
    write_frame(record);
    writer_.end_dict();
  }

  void write_tensors(const titan_work_record& record) {
    const bool has_tensor = record.dtype != 0;
    const bool both = record.is_p2p != 0;
    // A send's or receive's tensor stands on both sides, as PyTorch has it.
    const auto write_sizes = [&](std::string_view key, const std::int64_t* sizes, std::uint64_t count) {
      writer_.text(key);
      writer_.begin_list();
      if (has_tensor) {
        writer_.begin_list();
        for (std::uint64_t i = 0; i < count; ++i) writer_.integer(sizes[i]);
        writer_.end_list();
      }
      writer_.end_list();
    };
    const bool takes_output = both && !is_send(record), takes_input = both && is_send(record);
    write_sizes("input_sizes", takes_output ? record.output_sizes : record.input_sizes,
                takes_output ? record.num_output_sizes : record.num_input_sizes);
    write_dtypes("input_dtypes", record);
    write_sizes("output_sizes", takes_input ? record.input_sizes : record.output_sizes,
                takes_input ? record.num_input_sizes : record.num_output_sizes);
    write_dtypes("output_dtypes", record);
  }

  void write_dtypes(std::string_view key, const titan_work_record& record) {
    writer_.text(key);
    writer_.begin_list();
    if (record.dtype != 0) writer_.text(torch_dtype(record.dtype));
    writer_.end_list();
  }

  void write_times(const titan_work_record& record) {
    writer_.entry("time_created_ns", record.created_epoch);
    write_time("time_discovered_started_ns", record, record.started);
    const bool is_complete = record.state == TITAN_COLLECTIVE_COMPLETED;
    write_time("time_discovered_completed_ns", record, is_complete ? record.completed : 0);
    if (!is_complete || record.started == 0) return;
    writer_.entry("duration_ms", static_cast<double>(record.completed - record.started) * 1e-6);
  }

  void write_time(std::string_view key, const titan_work_record& record, std::int64_t monotonic) {
    if (monotonic > 0) return writer_.entry(key, record.created_epoch + (monotonic - record.created));
    writer_.text(key);
    writer_.none();
  }

  /// What the analyser shows for a stack: the call and the module it was made for.
  void write_frame(const titan_work_record& record) {
    const std::string_view module = sdk::view(record.module);
    writer_.text("frames");
    writer_.begin_list();
    writer_.begin_dict();
    writer_.entry("name", sdk::view(record.op));
    writer_.entry("filename", module.empty() ? std::string_view("(no module)") : module);
    writer_.entry("line", std::int64_t{0});
    writer_.end_dict();
    writer_.end_list();
  }

  void write_facts() {
    writer_.text("titan");
    writer_.begin_dict();
    writer_.entry("place", sdk::view(event_.place));
    writer_.entry("cause", cause_name(event_.cause));
    writer_.entry("reason", sdk::view(event_.reason));
    writer_.entry("rank", owner_.rank);
    writer_.entry("world_size", owner_.world_size);
    writer_.entry("forgotten", static_cast<std::int64_t>(event_.num_forgotten));
    writer_.end_dict();
  }

  PickleWriter writer_;
  const titan_dump_event& event_;
  const DumpOwner& owner_;
  std::vector<Group> groups_;
  std::map<std::string, std::size_t> numbers_;  // of the groups, by name
};

}  // namespace

std::string_view cause_name(std::int32_t cause) {
  switch (cause) {
    case TITAN_DUMP_TIMEOUT:
      return "timeout";
    case TITAN_DUMP_ERROR:
      return "error";
    case TITAN_DUMP_REQUEST:
      return "request";
    case TITAN_DUMP_EXIT:
      return "exit";
    case TITAN_DUMP_STOP:
      return "stop";
    default:
      return "unknown";
  }
}

void write_fr_dump(const std::filesystem::path& path, const titan_dump_event& event, const DumpOwner& owner) {
  Dump(path, event, owner).write();
}

}  // namespace titan::observability
