#include "core/data/tokenizer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/base/log.hpp"
#include "core/data/bpe_model.hpp"
#include "core/data/byte_level_tokenizer.hpp"
#include "core/data/tokenizer_config.hpp"
#include "core/data/tokenizer_file.hpp"
#include "core/data/vocabulary.hpp"

namespace titan::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 20U;

AddedToken read_added_token(const JsonField& field) {
  AddedToken token;
  token.content = field.at("content").text();
  token.id = static_cast<std::uint32_t>(field.at("id").integer(0, kMaxTokenId));
  token.single_word = field.boolean_or("single_word", false);
  token.lstrip = field.boolean_or("lstrip", false);
  token.rstrip = field.boolean_or("rstrip", false);
  token.normalized = field.boolean_or("normalized", true);
  token.special = field.boolean_or("special", false);
  return token;
}

/// Refuses ids that no token has.
void check_ids(const std::vector<std::int64_t>& ids, const Vocabulary& vocabulary, const JsonField& root) {
  for (const std::int64_t id : ids) {
    if (!vocabulary.has(id)) root.at("post_processor").fail("no token has the id ", id);
  }
}

std::optional<std::int64_t> id_of(const std::optional<std::string>& token, const Vocabulary& vocabulary) {
  if (!token || token->empty()) return std::nullopt;
  return vocabulary.find(*token);
}

bool adds(const PostProcessor& around, std::optional<std::int64_t> id) {
  const auto in = [&](const std::vector<std::int64_t>& ids) {
    return std::find(ids.begin(), ids.end(), *id) != ids.end();
  };
  return id && (in(around.prefix) || in(around.suffix));
}

std::string read_tokenizer_text(const fs::path& path) {
  std::error_code unreadable;  // a path that cannot be looked up is read, and refused, as any other
  if (!fs::exists(path, unreadable) && !unreadable) {
    throw InputError("[tokenizer] no such file: ", printable(path.string()),
                     " (set hf_assets_path to a folder that has a tokenizer.json)");
  }
  return read_file(path, kMaxFileBytes);
}

std::optional<std::string> read_config_text(const fs::path& path) {
  std::error_code unreadable;
  if (fs::exists(path, unreadable) || unreadable) return read_file(path, kMaxFileBytes);
  log_warning("tokenizer", "no ", printable(path.string()), ": the tokenizer has neither BOS nor EOS");
  return std::nullopt;
}

PreTokenizer read_pre_tokenizer(const JsonField& root) {
  if (!root.has("pre_tokenizer")) root.fail("only byte-level tokenizers are supported: found no pre_tokenizer");
  return PreTokenizer::parse(root.at("pre_tokenizer"));
}

/// Adds the tokens of both files, those of tokenizer.json first.
void add_tokens(const JsonField& root, const TokenizerConfig& config, const std::string& config_name,
                Vocabulary& vocabulary) {
  if (root.has("added_tokens")) {
    for (const JsonField& field : root.at("added_tokens").items()) vocabulary.add(read_added_token(field), field);
  }
  const nlohmann::json nothing;
  const JsonField where(nothing, "tokenizer", config_name);
  for (const AddedToken& token : config.special_tokens) vocabulary.add(token, where);
}

TokenizerParts assemble(const JsonField& root, const TokenizerFile& file, const Vocabulary& vocabulary) {
  TokenizerParts parts;
  if (root.has("normalizer")) parts.normalizer = TextNormalizer::parse(root.at("normalizer"));
  if (root.has("post_processor")) parts.post_processor = PostProcessor::parse(root.at("post_processor"));
  check_ids(parts.post_processor.prefix, vocabulary, root);
  check_ids(parts.post_processor.suffix, vocabulary, root);
  parts.pre_tokenizer = read_pre_tokenizer(root);
  parts.bpe = make_bpe_tables(root.at("model"), file);
  parts.before_normalizing = vocabulary.finder(false, parts.normalizer);
  parts.after_normalizing = vocabulary.finder(true, parts.normalizer);
  const auto kind = root.has("decoder") ? Detokenizer::parse(root.at("decoder")) : Detokenizer::Kind::spaces_between;
  parts.detokenizer = Detokenizer(vocabulary, parts.normalizer, kind);
  parts.vocab_size = vocabulary.size();
  return parts;
}

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::load(const std::filesystem::path& folder) {
  const fs::path path = folder / "tokenizer.json";
  const fs::path config_path = folder / "tokenizer_config.json";
  const std::string text = read_tokenizer_text(path);
  const std::optional<std::string> config_text = read_config_text(config_path);
  const TokenizerFile file = read_tokenizer_file(text, path.string());
  const JsonField root(file.sections, "tokenizer", path.string());
  TokenizerConfig config;
  if (config_text) config = read_tokenizer_config(*config_text, config_path.string());

  Vocabulary vocabulary(file.vocab, root.at("model").at("vocab"));
  add_tokens(root, config, config_path.string(), vocabulary);
  TokenizerParts parts = assemble(root, file, vocabulary);
  parts.fingerprint = hash128(concat(hash128(text), hash128(config_text.value_or(std::string()))));
  parts.bos_id = id_of(config.bos_token, vocabulary);
  parts.eos_id = id_of(config.eos_token, vocabulary);
  parts.rules = {adds(parts.post_processor, parts.bos_id), adds(parts.post_processor, parts.eos_id),
                 config.add_bos_token, config.add_eos_token};
  return std::make_shared<ByteLevelTokenizer>(std::move(parts));
}

}  // namespace titan::data
