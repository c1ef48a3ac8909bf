#include "core/data/byte_level_tokenizer.hpp"

#include <utility>

#include "core/base/error.hpp"

namespace titan::data {

ByteLevelTokenizer::ByteLevelTokenizer(TokenizerParts parts) : parts_(std::move(parts)), pool_(parts_.bpe) {}

std::vector<std::int64_t> ByteLevelTokenizer::encode(std::string_view text) const {
  std::vector<std::int64_t> ids;
  append(text, ids);
  return ids;
}

std::vector<std::int64_t> ByteLevelTokenizer::encode(std::string_view text, bool add_bos, bool add_eos) const {
  std::vector<std::int64_t> ids;
  const PostProcessor& around = parts_.post_processor;
  if (add_bos && parts_.bos_id && !parts_.rules.adds_bos) ids.push_back(*parts_.bos_id);
  ids.insert(ids.end(), around.prefix.begin(), around.prefix.end());
  append(text, ids);
  ids.insert(ids.end(), around.suffix.begin(), around.suffix.end());
  if (add_eos && parts_.eos_id && !parts_.rules.adds_eos) ids.push_back(*parts_.eos_id);
  return ids;
}

std::vector<std::int64_t> ByteLevelTokenizer::encode_default(std::string_view text) const {
  return encode(text, parts_.rules.default_add_bos, parts_.rules.default_add_eos);
}

std::string ByteLevelTokenizer::decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const {
  return parts_.detokenizer.decode(ids, skip_special_tokens);
}

void ByteLevelTokenizer::append(std::string_view text, std::vector<std::int64_t>& ids) const {
  if (const std::size_t at = invalid_utf8_at(text); at != std::string_view::npos) {
    throw DataError("[tokenizer] text is not UTF-8: at byte ", at);
  }
  ids.reserve(ids.size() + text.size() / 3 + 8);
  const WorkspacePool::Lease workspace(pool_);
  parts_.before_normalizing.split(text, [&](std::uint32_t id, std::string_view piece) {
    if (id != kNoToken) return ids.push_back(id);
    if (parts_.normalizer.is_identity()) return append_normalized(piece, *workspace, ids);
    append_normalized(parts_.normalizer.apply(piece), *workspace, ids);
  });
}

void ByteLevelTokenizer::append_normalized(std::string_view text, Workspace& workspace,
                                           std::vector<std::int64_t>& ids) const {
  const PreTokenizer::Sink encode_word = [&](std::string_view word) { workspace.bpe.encode(word, ids); };
  parts_.after_normalizing.split(text, [&](std::uint32_t id, std::string_view piece) {
    if (id != kNoToken) return ids.push_back(id);
    parts_.pre_tokenizer.split(piece, workspace.regex, encode_word);
  });
}

}  // namespace titan::data
