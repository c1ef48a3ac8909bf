#include "core/data/tokenizer_config.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/json_field.hpp"

namespace titan::data {

namespace {

/// A token given as text or as an object with `content`. The defaults differ between the two, as in torchtitan.
AddedToken read_token(const JsonField& field) {
  AddedToken token;
  token.special = true;
  token.normalized = false;
  if (field.is_text()) {
    token.content = field.text();
    return token;
  }
  if (!field.is_object()) field.fail("expected a token: a string, or an object with content");
  token.content = field.at("content").text();
  token.single_word = field.boolean_or("single_word", false);
  token.lstrip = field.boolean_or("lstrip", false);
  token.rstrip = field.boolean_or("rstrip", false);
  token.normalized = field.boolean_or("normalized", true);
  return token;
}

std::uint32_t read_id(const std::string& text, const JsonField& where) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id > kMaxTokenId) {
    where.fail("expected an id from 0 to ", kMaxTokenId);
  }
  return id;
}

std::optional<std::string> named_token(const JsonField& root, const char* name, std::vector<AddedToken>& tokens) {
  if (!root.has(name)) return std::nullopt;
  tokens.push_back(read_token(root.at(name)));
  return tokens.back().content;
}

void read_decoder(const JsonField& section, std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> found;
  for (const auto& [id, field] : section.members()) {
    found.push_back(read_token(field));
    found.back().id = read_id(id, field);
  }
  std::sort(found.begin(), found.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::move(found.begin(), found.end(), std::back_inserter(tokens));
}

}  // namespace

TokenizerConfig read_tokenizer_config(std::string_view text, const std::string& name) {
  const nlohmann::json parsed = parse_json(text, name);
  const JsonField root(parsed, "tokenizer", name);
  TokenizerConfig config;
  config.bos_token = named_token(root, "bos_token", config.special_tokens);
  config.eos_token = named_token(root, "eos_token", config.special_tokens);
  for (const char* other : {"pad_token", "unk_token", "sep_token", "cls_token", "mask_token"}) {
    named_token(root, other, config.special_tokens);
  }
  config.add_bos_token = root.boolean_or("add_bos_token", false);
  config.add_eos_token = root.boolean_or("add_eos_token", false);
  if (root.has("added_tokens_decoder")) read_decoder(root.at("added_tokens_decoder"), config.special_tokens);
  return config;
}

}  // namespace titan::data
