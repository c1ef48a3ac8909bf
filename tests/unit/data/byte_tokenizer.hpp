#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/tokenizer.hpp"

namespace titan::testing {

/// The simplest tokenizer: BOS is 0, EOS is 1, byte b is b + 2.
class ByteTokenizer : public data::Tokenizer {
 public:
  static constexpr std::int64_t kBos = 0;
  static constexpr std::int64_t kEos = 1;

  explicit ByteTokenizer(std::string fingerprint = "bytes") : fingerprint_(std::move(fingerprint)) {}

  std::vector<std::int64_t> encode(std::string_view text) const override { return encode(text, false, false); }
  std::vector<std::int64_t> encode(std::string_view text, bool add_bos, bool add_eos) const override {
    std::vector<std::int64_t> ids;
    if (add_bos) ids.push_back(kBos);
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c) + 2);
    if (add_eos) ids.push_back(kEos);
    return ids;
  }
  std::vector<std::int64_t> encode_default(std::string_view text) const override { return encode(text); }
  std::string decode(std::span<const std::int64_t> ids, bool /*skip*/) const override {
    std::string text;
    for (const std::int64_t id : ids) {
      if (id >= 2) text.push_back(static_cast<char>(id - 2));
    }
    return text;
  }
  std::int64_t vocab_size() const override { return 258; }
  std::optional<std::int64_t> bos_id() const override { return kBos; }
  std::optional<std::int64_t> eos_id() const override { return kEos; }
  const std::string& fingerprint() const override { return fingerprint_; }

 private:
  std::string fingerprint_;
};

}  // namespace titan::testing
