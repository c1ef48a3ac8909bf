#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/data/byte_alphabet.hpp"

namespace titan::testing {

/// The text of one entry for each byte (id = byte) and two merges: "he" (256) and "the" (257).
inline nlohmann::json tiny_tokenizer() {
  nlohmann::json vocab = nlohmann::json::object();
  for (unsigned byte = 0; byte < 256; ++byte) {
    vocab[std::string(data::byte_symbol(static_cast<std::uint8_t>(byte)))] = byte;
  }
  vocab["he"] = 256;
  vocab["the"] = 257;
  return {{"version", "1.0"},
          {"added_tokens", nlohmann::json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"h e", "t he"}}}}};
}

}  // namespace titan::testing
