#include "core/data/stream_state.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_field.hpp"

namespace titan::data {

namespace {

using nlohmann::json;

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kNoLimit = INT64_MAX;

// A JSON number holds 53 bits with many readers; a seed has 64.
std::uint64_t read_seed(const JsonField& field) {
  const std::string& text = field.text();
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) field.fail("not a seed");
  return seed;
}

StreamIdentity read_identity(const JsonField& root) {
  return {.dataset = root.at("dataset").text(),
          .documents = root.at("documents").integer(1, kNoLimit),
          .tokenizer = root.at("tokenizer").text(),
          .length = root.at("length").integer(1, kNoLimit),
          .seed = read_seed(root.at("seed")),
          .shuffle = root.at("shuffle").boolean(),
          .shards = root.at("shards").integer(1, kNoLimit)};
}

void read_cursor(const JsonField& field, std::int64_t shards, std::map<std::int64_t, Cursor>& cursors) {
  const std::vector<JsonField> numbers = field.items();
  if (numbers.size() != 5) field.fail("expected [shard, rows, epoch, document, pair]");
  const auto number = [&](std::size_t i) { return numbers[i].integer(0, kNoLimit); };
  const std::int64_t shard = numbers[0].integer(0, shards - 1);
  const Cursor cursor{.rows = number(1), .epoch = number(2), .document = number(3), .pair = number(4)};
  if (!cursors.emplace(shard, cursor).second) field.fail("the shard twice: ", shard);
}

template <class Value>
void check_equal(const char* what, const Value& saved, const Value& here, const char* remedy) {
  if (saved == here) return;
  throw DataError("[data] the saved state belongs to another stream: ", what, ' ', saved, " when saved, ", here,
                  " now (", remedy, ')');
}

}  // namespace

std::string write_state(const StreamState& state) {
  const StreamIdentity& identity = state.identity;
  json cursors = json::array();
  for (const auto& [shard, cursor] : state.position.cursors) {
    cursors.push_back({shard, cursor.rows, cursor.epoch, cursor.document, cursor.pair});
  }
  return json{{"version", kVersion},
              {"dataset", identity.dataset},
              {"documents", identity.documents},
              {"tokenizer", identity.tokenizer},
              {"length", identity.length},
              {"seed", concat(identity.seed)},
              {"shuffle", identity.shuffle},
              {"shards", identity.shards},
              {"rows", state.position.rows},
              {"cursors", std::move(cursors)}}
      .dump();
}

StreamState read_state(std::string_view text) {
  const json parsed = parse_json(text, "data state");
  const JsonField root(parsed, "data", "data state");
  const std::int64_t version = root.at("version").integer(INT64_MIN, kNoLimit);
  if (version != kVersion) root.at("version").fail("unknown version: ", version, ", this program knows ", kVersion);
  StreamState state;
  state.identity = read_identity(root);
  state.position.rows = root.at("rows").integer(0, kNoLimit);
  for (const JsonField& field : root.at("cursors").items()) {
    read_cursor(field, state.identity.shards, state.position.cursors);
  }
  return state;
}

void check_same_stream(const StreamIdentity& saved, const StreamIdentity& here) {
  check_equal("number of documents", saved.documents, here.documents, "use the same dataloader.dataset_path");
  check_equal("text with the hash", saved.dataset, here.dataset, "use the same dataloader.dataset_path");
  check_equal("tokenizer with the hash", saved.tokenizer, here.tokenizer, "use the same hf_assets_path");
  check_equal("row length", saved.length, here.length, "set training.max_context_length back");
  check_equal("seed", saved.seed, here.seed, "set dataloader.seed back");
  check_equal("shuffling", saved.shuffle, here.shuffle, "set dataloader.shuffle back");
  check_equal("number of virtual shards", saved.shards, here.shards, "set dataloader.num_virtual_shards back");
}

StreamState merge_states(std::span<const StreamState> states) {
  if (states.empty()) throw DataError("[data] no state to merge");
  StreamState merged = states.front();
  for (const StreamState& state : states.subspan(1)) {
    check_same_stream(state.identity, merged.identity);
    if (state.position.rows != merged.position.rows) {
      throw DataError("[data] states of different steps cannot be merged: rows ", state.position.rows, " and ",
                      merged.position.rows);
    }
    for (const auto& [shard, cursor] : state.position.cursors) {
      const auto [place, is_new] = merged.position.cursors.emplace(shard, cursor);
      if (!is_new && cursor.rows > place->second.rows) place->second = cursor;
    }
  }
  return merged;
}

}  // namespace titan::data
