#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/data/corpus.hpp"
#include "core/data/gzip.hpp"
#include "core/data/loader.hpp"
#include "tools/make_corpus/corpus.hpp"

namespace titan::data {
namespace {

const std::filesystem::path kAssets = TITAN_TEST_ASSETS;

/// The corpus that the project ships for first runs.
TEST(PracticeCorpus, IsWhatTheGeneratorMakes) {
  std::string shipped;
  gunzip_in_pieces(kAssets / "corpus/corpus.jsonl.gz", [&](std::string_view piece) { shipped += piece; });
  // Not EXPECT_EQ: it would print both.
  EXPECT_TRUE(shipped == corpus::make_corpus()) << "run make_corpus tests/assets/corpus/corpus.jsonl.gz";
}

TEST(PracticeCorpus, IsSmallAndVaried) {
  EXPECT_LT(std::filesystem::file_size(kAssets / "corpus/corpus.jsonl.gz"), 600'000U);
  Corpus documents(kAssets / "corpus");
  EXPECT_EQ(documents.num_documents(), corpus::kNumDocuments);
  std::set<std::string> words;
  std::set<std::string> texts;
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < documents.num_documents(); ++i) {
    const std::string text = documents.read(i);
    bytes += text.size();
    texts.insert(text);
    std::istringstream stream(text);
    for (std::string word; stream >> word;) words.insert(word);
  }
  EXPECT_EQ(texts.size(), corpus::kNumDocuments);
  EXPECT_GT(bytes, 1'900'000U);
  EXPECT_GT(words.size(), 2'000U);
}

/// What a model can learn in ten steps is how frequent each token is: the loss falls to about this entropy.
TEST(PracticeCorpus, FrequenciesOfTokensAreWorthLearning) {
  LoaderOptions options;
  options.path = kAssets / "corpus";
  Loader loader(options, Tokenizer::load(kAssets / "tokenizer"));
  std::map<std::int64_t, double> counts;
  double total = 0;
  for (int step = 0; step < 10; ++step) {
    const Batch batch = loader.next().value();
    EXPECT_EQ(batch.num_valid, 8 * 2048);
    for (const std::int64_t label : batch.labels) ++counts[label];
    total += static_cast<double>(batch.num_valid);
  }
  double entropy = 0;
  for (const auto& [token, count] : counts) entropy -= count / total * std::log(count / total);
  EXPECT_LT(entropy, 4.5);
  EXPECT_GT(entropy, 3.0);
}

}  // namespace
}  // namespace titan::data
