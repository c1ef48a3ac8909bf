#include "core/data/bpe_model.hpp"

#include <string>

#include "core/base/log.hpp"
#include "core/data/byte_alphabet.hpp"

namespace titan::data {

namespace {

std::string shown(std::string_view token) { return shortened(printable(token), 80); }

/// Refuses what would change ids and is not supported.
void check_options(const JsonField& model) {
  const std::string& type = model.at("type").text();
  if (type != "BPE") model.fail("only byte-level BPE is supported: found ", shown(type));
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (model.has(affix) && !model.at(affix).text().empty()) model.at(affix).fail("not supported");
  }
  if (model.has("dropout") && model.at("dropout").number() != 0) {
    model.at("dropout").fail("not supported: ids would be random");
  }
}

void read_bytes(const JsonField& model, const TokenizerFile& file, BpeTables& tables) {
  std::size_t missing = 0;
  std::string first;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string_view symbol = byte_symbol(static_cast<std::uint8_t>(byte));
    tables.byte_tokens[byte] = file.vocab.find(symbol);
    if (tables.byte_tokens[byte] == kNoToken && ++missing == 1) first = concat(byte);
  }
  if (missing == 0) return;
  if (model.boolean_or("byte_fallback", false))
    model.fail("byte_fallback is not supported: bytes without token ", missing);
  log_warning("tokenizer", printable(model.where()), ": ", missing, " of 256 bytes have no token, the first is byte ",
              first, ": in texts they are ",
              tables.unknown_token == kNoToken ? "dropped" : "read as the unknown token");
}

void read_merges(const JsonField& model, const TokenizerFile& file, BpeTables& tables) {
  std::string joined;
  const auto id_of = [&](std::string_view token, std::size_t merge) {
    const std::uint32_t id = file.vocab.find(token);
    if (id == kNoToken) model.at("merges").fail("not in the vocabulary: \"", shown(token), "\", merge ", merge);
    return id;
  };
  for (std::size_t merge = 0; merge < file.merges.size(); ++merge) {
    const std::string_view left = file.merges.left(merge);
    const std::string_view right = file.merges.right(merge);
    joined.assign(left).append(right);
    const std::uint32_t left_id = id_of(left, merge);
    const std::uint32_t right_id = id_of(right, merge);
    tables.merges.set(left_id, right_id, {static_cast<std::uint32_t>(merge), id_of(joined, merge)});
  }
}

/// The words that can be met: entries spelt in the byte alphabet.
void read_words(const TokenizerFile& file, BpeTables& tables) {
  std::string bytes;
  for (std::size_t entry = 0; entry < file.vocab.size(); ++entry) {
    bytes.clear();
    if (append_spelled_bytes(bytes, file.vocab.text(entry))) tables.words.insert(bytes, file.vocab.id(entry));
  }
}

}  // namespace

BpeTables make_bpe_tables(const JsonField& model, const TokenizerFile& file) {
  BpeTables tables;
  check_options(model);
  // Their content is in `file`; these say whether they were there, and of the right kind.
  model.at("vocab").members();
  model.at("merges").items();
  if (model.has("unk_token")) {
    const std::string& unknown = model.at("unk_token").text();
    tables.unknown_token = file.vocab.find(unknown);
    if (tables.unknown_token == kNoToken) model.at("unk_token").fail("not in the vocabulary: \"", shown(unknown), '"');
  }
  tables.fuse_unknown = model.boolean_or("fuse_unk", false);
  read_bytes(model, file, tables);
  read_merges(model, file, tables);
  tables.whole_words_first = model.boolean_or("ignore_merges", false);
  if (tables.whole_words_first) read_words(file, tables);
  return tables;
}

}  // namespace titan::data
