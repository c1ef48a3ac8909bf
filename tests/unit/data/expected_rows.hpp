#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/data/loader.hpp"
#include "core/data/shuffle.hpp"
#include "tests/unit/data/byte_tokenizer.hpp"

namespace titan::testing {

/// A row of the global stream.
struct ExpectedRow {
  std::vector<std::int64_t> tokens, labels, positions;
  friend bool operator==(const ExpectedRow&, const ExpectedRow&) = default;
};

/// The definition of the global stream, written as plainly as it can be: all pairs of a shard are laid out, then cut.
class ExpectedStream {
 public:
  ExpectedStream(std::vector<std::string> texts, const data::LoaderOptions& options)
      : texts_(std::move(texts)),
        options_(options),
        shards_(std::min<std::size_t>(static_cast<std::size_t>(options.num_virtual_shards), texts_.size())) {}

  ExpectedRow row(std::size_t index, std::size_t epochs) const {
    const std::size_t length = static_cast<std::size_t>(options_.length);
    const std::vector<Pair> pairs = shard_pairs(index % shards_, epochs);
    ExpectedRow row;
    std::int64_t position = 0;
    for (std::size_t i = index / shards_ * length; i < (index / shards_ + 1) * length && i < pairs.size(); ++i) {
      if (pairs[i].begins_document) position = 0;
      row.tokens.push_back(pairs[i].token);
      row.labels.push_back(pairs[i].label);
      row.positions.push_back(position++);
    }
    return row;
  }

  std::size_t num_shards() const { return shards_; }

 private:
  struct Pair {
    std::int64_t token, label;
    bool begins_document;
  };

  std::vector<Pair> shard_pairs(std::size_t shard, std::size_t epochs) const {
    std::size_t first = 0;
    for (std::size_t k = 0; k < shard; ++k) first += shard_size(k);
    std::vector<Pair> pairs;
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
      std::vector<std::uint32_t> order(shard_size(shard));
      std::iota(order.begin(), order.end(), 0U);
      if (options_.shuffle) order = data::shuffled_order(order.size(), options_.seed, epoch, shard);
      for (const std::uint32_t place : order) {
        const auto ids = ByteTokenizer().encode(texts_[first + place], true, true);
        for (std::size_t i = 0; i + 1 < ids.size(); ++i) pairs.push_back({ids[i], ids[i + 1], i == 0});
      }
    }
    return pairs;
  }

  std::size_t shard_size(std::size_t shard) const {
    return texts_.size() / shards_ + (shard < texts_.size() % shards_ ? 1 : 0);
  }

  std::vector<std::string> texts_;
  data::LoaderOptions options_;
  std::size_t shards_;
};

/// Texts of different lengths; some are empty, some longer than a row.
inline std::vector<std::string> some_texts(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t k = 0; k < (i * i * 7 + 3 * i) % 41; ++k)
      text.push_back(static_cast<char>('a' + (i * 5 + k) % 26));
    texts.push_back(text);
  }
  return texts;
}

inline std::string json_lines(const std::vector<std::string>& texts) {
  std::string content;
  for (const std::string& text : texts) content += "{\"text\":\"" + text + "\"}\n";
  return content;
}

}  // namespace titan::testing
