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

/// Byte-level BPE read from a Hugging Face `tokenizer.json` and, where present, `tokenizer_config.json` beside it.
/// Immutable; any thread may encode and decode.
class Tokenizer {
 public:
  /// Reads the files of a folder. InputError: no tokenizer.json. DataError: what is malformed or not supported.
  static std::shared_ptr<const Tokenizer> load(const std::filesystem::path& folder);
  virtual ~Tokenizer() = default;

  /// Token ids of the text alone; added tokens in the text are recognised.
  virtual std::vector<std::int64_t> encode(std::string_view text) const = 0;
  /// torchtitan's wrapper: BOS and EOS are put around unless the tokenizer's own rules already did.
  virtual std::vector<std::int64_t> encode(std::string_view text, bool add_bos, bool add_eos) const = 0;
  /// torchtitan's defaults: as tokenizer_config.json's add_bos_token and add_eos_token say.
  virtual std::vector<std::int64_t> encode_default(std::string_view text) const = 0;
  /// Text of the ids; bad UTF-8 becomes U+FFFD, unknown ids vanish.
  virtual std::string decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const = 0;

  /// Ids are below this number (added tokens included).
  virtual std::int64_t vocab_size() const = 0;
  virtual std::optional<std::int64_t> bos_id() const = 0;
  virtual std::optional<std::int64_t> eos_id() const = 0;
  /// Identifies the tokenizer: hash of the files' content.
  virtual const std::string& fingerprint() const = 0;
};

}  // namespace titan::data
