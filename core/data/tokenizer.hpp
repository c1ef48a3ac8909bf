#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titan::data {

/// When BOS and EOS are put around a text, found out as torchtitan's wrapper does.
struct BosEosRules {
  bool adds_bos = false;         // the tokenizer's own post-processor adds it to every text
  bool adds_eos = false;         //
  bool default_add_bos = false;  // tokenizer_config.json's add_bos_token
  bool default_add_eos = false;  // tokenizer_config.json's add_eos_token
};

/// Byte-level BPE read from a Hugging Face `tokenizer.json` and, where present, `tokenizer_config.json` beside it.
/// Immutable; any thread may encode and decode.
class Tokenizer {
 public:
  /// Reads the files of a folder. InputError: no tokenizer.json. DataError: what is malformed or not supported, naming
  /// the file. Warns when the vocabulary cannot spell every byte.
  static std::shared_ptr<const Tokenizer> load(const std::filesystem::path& folder);
  virtual ~Tokenizer() = default;

  /// Token ids of the text alone; added tokens in the text are recognised. DataError when the text is not UTF-8, or
  /// when the tokenizer's pattern needs an unreasonable number of steps on it.
  virtual std::vector<std::int64_t> encode(std::string_view text) const = 0;
  /// What torchtitan's wrapper gives: the post-processor's tokens, then BOS and EOS unless it adds them itself.
  virtual std::vector<std::int64_t> encode(std::string_view text, bool add_bos, bool add_eos) const = 0;
  /// The same with the defaults that tokenizer_config.json states.
  virtual std::vector<std::int64_t> encode_default(std::string_view text) const = 0;
  /// Text of the ids; bad UTF-8 becomes U+FFFD, unknown ids vanish.
  virtual std::string decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const = 0;

  /// Ids are below this number (added tokens included).
  virtual std::int64_t vocab_size() const = 0;
  virtual std::optional<std::int64_t> bos_id() const = 0;
  virtual std::optional<std::int64_t> eos_id() const = 0;
  virtual BosEosRules bos_eos_rules() const { return {}; }
  /// Identifies the tokenizer: hash of the files' content.
  virtual const std::string& fingerprint() const = 0;
};

}  // namespace titan::data
