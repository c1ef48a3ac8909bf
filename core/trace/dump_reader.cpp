#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/number.hpp"
#include "core/pickle/document.hpp"
#include "core/trace/dump.hpp"
#include "core/trace/names.hpp"

namespace titan::trace {
namespace {

using pickle::Kind;
using pickle::Value;

constexpr std::size_t kMostShown = 64;  // shapes of a call, dimensions of a shape
constexpr std::size_t kMostRanks = std::size_t{1} << 20U;
constexpr std::size_t kMostTextBytes = 512;
constexpr std::size_t kMostGroups = std::size_t{1} << 16U;
constexpr std::size_t kMostMembers = std::size_t{1} << 22U;  // of all groups of a dump
constexpr std::size_t kFewestBytesACall = 32;

/// Reads what a dump says; the file is small enough to be in memory.
class DumpReader {
 public:
  DumpReader(const std::string& source, std::size_t num_bytes, Dumps& dumps)
      : source_(source), num_bytes_(num_bytes), dumps_(dumps) {}

  Dump read(const Value& root) {
    if (root.kind() != Kind::dict) fail("its root is no dict");
    dump_.version = text_of(root, "version");
    is_ours_ = root.field("titan").has_value();
    read_groups(need(root, "pg_config", Kind::dict));
    const Value entries = need(root, "entries", Kind::list);
    // A pickle may name one dict again and again, at two bytes each.
    if (entries.size() > num_bytes_ / kFewestBytesACall) fail("it has more entries than its bytes can tell");
    std::int64_t first_record = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Value entry = entries.item(i);
      if (entry.kind() != Kind::dict) fail("an entry is no dict");
      if (i == 0) first_record = integer_or(entry, "record_id", 0);
      dump_.calls.push_back(call_of(entry));
    }
    read_facts(root);
    dump_.is_whole = dump_.facts ? dump_.facts->forgotten == 0 : first_record == 0;
    return std::move(dump_);
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    throw DataError("[trace] no flight-recorder dump: ", printable(source_), ": ", reason...);
  }

  Value need(const Value& dict, const char* field, Kind kind) const {
    const std::optional<Value> value = dict.field(field);
    if (!value) fail("it has no ", field);
    if (value->kind() != kind) fail(field, " is no ", kind == Kind::dict ? "dict" : "list");
    return *value;
  }

  std::string text_of(const Value& dict, const char* field) const {
    const std::optional<Value> value = dict.field(field);
    const auto text = value ? value->text() : std::nullopt;
    if (!text) fail(value ? "no text: " : "it has no ", field);
    return shortened(*text, kMostTextBytes);
  }

  static std::string text_or_empty(const Value& dict, const char* field) {
    const std::optional<Value> value = dict.field(field);
    return shortened(value ? value->text().value_or("") : "", kMostTextBytes);
  }

  static std::int64_t integer_or(const Value& dict, const char* field, std::int64_t fallback) {
    const std::optional<Value> value = dict.field(field);
    return value ? value->integer().value_or(fallback) : fallback;
  }

  static bool is_true(const Value& dict, const char* field) {
    const std::optional<Value> value = dict.field(field);
    return value && value->boolean().value_or(false);
  }

  std::uint32_t number(std::string_view text) { return dumps_.texts.number(text); }

  // Groups.

  void read_groups(const Value& groups) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto name = groups.key(i).text();
      const Value group = groups.item(i);
      if (!name || group.kind() != Kind::dict) fail("a group has no name or is no dict");
      add_group({shortened(*name, kMostTextBytes), text_or_empty(group, "desc"), ranks_of(group)});
      group_numbers_.emplace(*name, static_cast<std::uint32_t>(dump_.groups.size() - 1));
    }
  }

  void add_group(DumpGroup group) {
    num_members_ += group.ranks.size();
    if (dump_.groups.size() == kMostGroups || num_members_ > kMostMembers) fail("it has too many groups");
    dump_.groups.push_back(std::move(group));
  }

  /// PyTorch writes them as a text, "[0, 1]".
  std::vector<std::int64_t> ranks_of(const Value& group) const {
    std::vector<std::int64_t> ranks;
    const std::optional<Value> value = group.field("ranks");
    if (!value) return ranks;
    if (value->kind() == Kind::list) {
      for (std::size_t i = 0; i < value->size(); ++i) ranks.push_back(value->item(i).integer().value_or(-1));
    } else {
      std::string text(value->text().value_or(""));
      std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
      for (const std::string& item : split(text, ',')) ranks.push_back(parse_number<std::int64_t>(item).value_or(-1));
    }
    std::sort(ranks.begin(), ranks.end());
    const bool is_sound = ranks.size() <= kMostRanks && (ranks.empty() || ranks.front() >= 0) &&
                          std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
    if (!is_sound) fail("ranks of a group are no list of ranks");
    return ranks;
  }

  /// A dump of gloo lists its group under the name "", and its calls say "0".
  std::uint32_t group_of(std::string_view name, std::string_view description) {
    const auto found = group_numbers_.find(name);
    if (found != group_numbers_.end()) return found->second;
    DumpGroup group{shortened(name, kMostTextBytes), shortened(description, kMostTextBytes), {}};
    const auto unnamed = group_numbers_.find("");
    if (unnamed != group_numbers_.end() && dump_.groups.size() == 1) {
      group.ranks = dump_.groups.front().ranks;
      dump_.groups.front() = std::move(group);
      group_numbers_.emplace(name, 0);
      return 0;
    }
    add_group(std::move(group));
    return group_numbers_.emplace(name, static_cast<std::uint32_t>(dump_.groups.size() - 1)).first->second;
  }

  // Calls.

  Call call_of(const Value& entry) {
    Call call;
    read_group(entry, call);
    read_name(text_of(entry, "profiling_name"), call);
    call.is_p2p = call.is_p2p || is_true(entry, "is_p2p");
    call.sequence = integer_or(entry, call.is_p2p ? "p2p_seq_id" : "collective_seq_id", 0);
    const std::string state = text_of(entry, "state");
    call.state = number(state);
    // PyTorch's gloo never leaves "scheduled", but marks what is over as retired.
    call.is_done = state == "completed" || is_true(entry, "retired");
    call.input = number(tensors_of(entry, "input_sizes", "input_dtypes"));
    call.output = number(tensors_of(entry, "output_sizes", "output_dtypes"));
    call.created_ns = integer_or(entry, "time_created_ns", 0);
    const std::string module = text_or_empty(entry, "module");
    if (!module.empty()) call.module = number(module);
    if (!is_ours_) call.place = place_of(entry);
    return call;
  }

  void read_group(const Value& entry, Call& call) {
    const std::optional<Value> group = entry.field("process_group");
    const bool is_pair = group && (group->kind() == Kind::tuple || group->kind() == Kind::list) && group->size() == 2;
    const auto name = is_pair ? group->item(0).text() : std::nullopt;
    if (!name) fail("process_group of an entry is no pair of texts");
    const std::string_view description = group->item(1).text().value_or("");
    call.group = group_of(*name, description);
    // Titan's groups of the same ranks share what carries them: each call says which of them it is for.
    const bool has_title = !description.empty() && description != "undefined";
    const std::string& known = dump_.groups[call.group].title();
    call.title = number(has_title ? shortened(description, kMostTextBytes) : known);
  }

  /// "nccl:all_reduce", "nccl:send 0->1", "nccl:recv 0<-1".
  void read_name(std::string_view name, Call& call) {
    const std::size_t colon = name.find(':');
    if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
    const std::size_t blank = name.find(' ');
    const std::string_view op = name.substr(0, blank);
    call.op = number(call_name(op));
    if (blank == std::string_view::npos || (op != "send" && op != "recv")) return;
    const std::string_view ranks = name.substr(blank + 1);
    const std::size_t arrow = ranks.find(op == "send" ? "->" : "<-");
    if (arrow == std::string_view::npos) return;
    const auto own = parse_number<std::int64_t>(ranks.substr(0, arrow));
    const auto peer = parse_number<std::int64_t>(ranks.substr(arrow + 2));
    if (!own || !peer) return;
    call.is_p2p = true;
    call.source = op == "send" ? *own : *peer;
    call.target = op == "send" ? *peer : *own;
  }

  static std::string shape_of(const Value& shape) {
    std::string text;
    for (std::size_t i = 0; i < std::min(shape.size(), kMostShown); ++i) {
      text += concat(i == 0 ? "" : ", ", shape.item(i).integer().value_or(-1));
    }
    return concat("[", text, "]");
  }

  std::string tensors_of(const Value& entry, const char* sizes_field, const char* dtypes_field) const {
    const std::optional<Value> sizes = entry.field(sizes_field), dtypes = entry.field(dtypes_field);
    std::string text;
    if (!sizes || (sizes->kind() != Kind::list && sizes->kind() != Kind::tuple)) return text;
    for (std::size_t i = 0; i < std::min(sizes->size(), kMostShown); ++i) {
      const bool has_dtype = dtypes && dtypes->kind() != Kind::dict && i < dtypes->size();
      const std::string_view dtype = has_dtype ? dtypes->item(i).text().value_or("") : "";
      text += concat(i == 0 ? "" : ", ", shortened(dtype_name(dtype), kMostShown), dtype.empty() ? "" : " ",
                     shape_of(sizes->item(i)));
    }
    return text;
  }

  /// The innermost frame outside of PyTorch's own wrappers.
  std::uint32_t place_of(const Value& entry) {
    const std::optional<Value> frames = entry.field("frames");
    if (!frames || frames->kind() != Kind::list) return pickle::Texts::kNone;
    for (std::size_t i = 0; i < std::min(frames->size(), kMostShown); ++i) {
      const Value frame = frames->item(i);
      const std::string file = text_or_empty(frame, "filename");
      if (file.empty() || file.ends_with("distributed_c10d.py") || file.ends_with("c10d_logger.py")) continue;
      return number(concat(text_or_empty(frame, "name"), " at ", file, ":", integer_or(frame, "line", 0)));
    }
    return pickle::Texts::kNone;
  }

  void read_facts(const Value& root) {
    const std::optional<Value> titan = root.field("titan");
    if (!titan || titan->kind() != Kind::dict) return;
    dump_.facts = DumpFacts{text_or_empty(*titan, "place"),
                            text_or_empty(*titan, "cause"),
                            text_or_empty(*titan, "reason"),
                            integer_or(*titan, "world_size", 0),
                            std::max<std::int64_t>(integer_or(*titan, "forgotten", 0), 0),
                            integer_or(*titan, "rank", -1)};
  }

  const std::string& source_;
  std::size_t num_bytes_;
  Dumps& dumps_;
  Dump dump_;
  std::size_t num_members_ = 0;
  bool is_ours_ = false;
  std::map<std::string, std::uint32_t, std::less<>> group_numbers_;
};

}  // namespace

std::string_view Dumps::text(std::uint32_t number) const {
  return number == pickle::Texts::kNone ? std::string_view() : texts[number];
}

void read_dump(std::string bytes, std::int64_t rank, const std::string& source, Dumps& dumps) {
  const std::size_t num_bytes = bytes.size();
  const pickle::Document document = pickle::Document::read(std::move(bytes), {}, source);
  Dump dump = DumpReader(source, num_bytes, dumps).read(document.root());
  dump.rank = rank;
  dump.file = source;
  dumps.ranks.push_back(std::move(dump));
}

}  // namespace titan::trace
