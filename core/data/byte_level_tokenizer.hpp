#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/added_tokens.hpp"
#include "core/data/bpe.hpp"
#include "core/data/detokenizer.hpp"
#include "core/data/post_processor.hpp"
#include "core/data/pre_tokenizer.hpp"
#include "core/data/text_normalizer.hpp"
#include "core/data/tokenizer.hpp"
#include "core/data/workspace_pool.hpp"

namespace titan::data {

/// All that a tokenizer's files decide.
struct TokenizerParts {
  std::string fingerprint;
  TextNormalizer normalizer;
  PreTokenizer pre_tokenizer;
  PostProcessor post_processor;
  BpeTables bpe;
  AddedTokenFinder before_normalizing;
  AddedTokenFinder after_normalizing;
  Detokenizer detokenizer;
  std::int64_t vocab_size = 0;
  std::optional<std::int64_t> bos_id;
  std::optional<std::int64_t> eos_id;
  BosEosRules rules;
};

/// The tokenizer that its parts make: added tokens are cut out, the rest is normalised, cut into words and merged.
class ByteLevelTokenizer final : public Tokenizer {
 public:
  explicit ByteLevelTokenizer(TokenizerParts parts);

  std::vector<std::int64_t> encode(std::string_view text) const override;
  std::vector<std::int64_t> encode(std::string_view text, bool add_bos, bool add_eos) const override;
  std::vector<std::int64_t> encode_default(std::string_view text) const override;
  std::string decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const override;

  std::int64_t vocab_size() const override { return parts_.vocab_size; }
  std::optional<std::int64_t> bos_id() const override { return parts_.bos_id; }
  std::optional<std::int64_t> eos_id() const override { return parts_.eos_id; }
  BosEosRules bos_eos_rules() const override { return parts_.rules; }
  const std::string& fingerprint() const override { return parts_.fingerprint; }

 private:
  void append(std::string_view text, std::vector<std::int64_t>& ids) const;
  void append_normalized(std::string_view text, Workspace& workspace, std::vector<std::int64_t>& ids) const;

  TokenizerParts parts_;
  mutable WorkspacePool pool_;
};

}  // namespace titan::data
