#include "core/data/detokenizer.hpp"

#include "core/data/byte_alphabet.hpp"
#include "core/data/unicode.hpp"

namespace titan::data {

Detokenizer::Kind Detokenizer::parse(const JsonField& section) {
  const std::string& type = section.at("type").text();
  if (type == "ByteLevel") return Kind::byte_level;
  if (type == "Sequence") {
    bool byte_level = false;
    for (const JsonField& item : section.at("decoders").items()) {
      // Fuse joins what ByteLevel has joined already.
      if (byte_level && item.at("type").text() == "Fuse") continue;
      byte_level = parse(item) == Kind::byte_level;
    }
    if (byte_level) return Kind::byte_level;
  }
  section.fail("decoder not supported: ", printable(type), " (supported: ByteLevel, Sequence with ByteLevel first)");
}

Detokenizer::Detokenizer(const Vocabulary& vocabulary, const TextNormalizer& normalizer, Kind kind) : kind_(kind) {
  tokens_.resize(vocabulary.size());
  std::vector<std::string> texts(vocabulary.size());
  for (std::uint32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.has(id)) texts[id] = vocabulary.content(id);
  }
  for (const AddedToken& token : vocabulary.added()) {
    if (token.normalized) texts[token.id] = normalizer.apply(token.content);
  }
  for (std::uint32_t id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.has(id)) continue;
    const std::size_t begin = bytes_.size();
    if (kind == Kind::byte_level) {
      append_spelled_bytes(bytes_, texts[id]);
    } else {
      bytes_ += texts[id];
    }
    tokens_[id] = {begin, static_cast<std::uint32_t>(bytes_.size() - begin), true, vocabulary.is_special(id)};
  }
}

std::string Detokenizer::decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const {
  std::string bytes;
  bool is_first = true;
  for (const std::int64_t id : ids) {
    if (id < 0 || static_cast<std::uint64_t>(id) >= tokens_.size()) continue;
    const Token& token = tokens_[static_cast<std::size_t>(id)];
    if (!token.used || (token.special && skip_special_tokens)) continue;
    if (kind_ == Kind::spaces_between && !is_first) bytes += ' ';
    bytes += std::string_view(bytes_).substr(token.begin, token.length);
    is_first = false;
  }
  if (kind_ == Kind::spaces_between) return bytes;
  std::string text;
  text.reserve(bytes.size());
  append_lossy(text, bytes);
  return text;
}

}  // namespace titan::data
