#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/data/corpus.hpp"
#include "core/data/loader.hpp"
#include "core/data/tokenizer.hpp"

// The practice corpus from disk to ids to packed batches, on one thread. Bytes are those of the text.
namespace {

using namespace titan::data;

const std::filesystem::path kAssets = TITAN_ASSETS_FOLDER;

std::vector<std::string> texts() {
  Corpus corpus(kAssets / "corpus");
  std::vector<std::string> result;
  for (std::uint64_t i = 0; i < corpus.num_documents(); ++i) result.push_back(corpus.read(i));
  return result;
}

void report(benchmark::State& state, double bytes, double tokens) {
  state.counters["bytes/s"] = benchmark::Counter(bytes, benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
  state.counters["tokens/s"] = benchmark::Counter(tokens, benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

void load_tokenizer(benchmark::State& state) {
  for (auto step : state) benchmark::DoNotOptimize(Tokenizer::load(kAssets / "tokenizer"));
}

void open_corpus(benchmark::State& state) {
  for (auto step : state) benchmark::DoNotOptimize(Corpus(kAssets / "corpus").num_documents());
}

void read_documents(benchmark::State& state) {
  Corpus corpus(kAssets / "corpus");
  double bytes = 0;
  for (auto step : state) {
    for (std::uint64_t i = 0; i < corpus.num_documents(); ++i) bytes += static_cast<double>(corpus.read(i).size());
  }
  report(state, bytes, 0);
}

void encode(benchmark::State& state) {
  const auto tokenizer = Tokenizer::load(kAssets / "tokenizer");
  const std::vector<std::string> documents = texts();
  double bytes = 0;
  double tokens = 0;
  for (auto step : state) {
    for (const std::string& text : documents) {
      bytes += static_cast<double>(text.size());
      tokens += static_cast<double>(tokenizer->encode(text, true, true).size());
    }
  }
  report(state, bytes, tokens);
}

void decode(benchmark::State& state) {
  const auto tokenizer = Tokenizer::load(kAssets / "tokenizer");
  std::vector<std::vector<std::int64_t>> documents;
  for (const std::string& text : texts()) documents.push_back(tokenizer->encode(text));
  double bytes = 0;
  double tokens = 0;
  for (auto step : state) {
    for (const auto& ids : documents) {
      bytes += static_cast<double>(tokenizer->decode(ids, true).size());
      tokens += static_cast<double>(ids.size());
    }
  }
  report(state, bytes, tokens);
}

/// The whole pipeline: batches of 8 rows of 2,048, with so many batches made ahead.
void make_batches(benchmark::State& state) {
  LoaderOptions options;
  options.path = kAssets / "corpus";
  options.num_prefetch_batches = state.range(0);
  Loader loader(options, Tokenizer::load(kAssets / "tokenizer"));
  double tokens = 0;
  for (auto step : state) tokens += static_cast<double>(loader.next()->tokens.size());
  report(state, 0, tokens);
}

BENCHMARK(load_tokenizer)->Unit(benchmark::kMillisecond);
BENCHMARK(open_corpus)->Unit(benchmark::kMillisecond);
BENCHMARK(read_documents)->Unit(benchmark::kMillisecond);
BENCHMARK(encode)->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Unit(benchmark::kMillisecond);
BENCHMARK(make_batches)->Arg(0)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
