#include "benchmarks/data/pipeline.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/data/corpus.hpp"
#include "core/data/loader.hpp"
#include "core/data/tokenizer.hpp"

namespace titan::benchmark {
namespace {

data::LoaderOptions options_for(const DataInputs& inputs) {
  data::LoaderOptions options;
  options.path = inputs.dataset;
  options.shuffle = false;
  options.num_prefetch_batches = 0;
  options.num_virtual_shards = 1;
  return options;
}

}  // namespace

class Pipeline::Impl {
 public:
  explicit Impl(const DataInputs& inputs)
      : tokenizer_(data::Tokenizer::load(inputs.tokenizer)),
        loader_(options_for(inputs), tokenizer_),
        corpus_(inputs.dataset) {}

  Passage make(int batches) {
    Passage passage;
    const double begin = monotonic_seconds();
    for (int i = 0; i < batches; ++i) {
      const std::optional<data::Batch> batch = loader_.next();
      TITAN_CHECK(batch.has_value(), "the data ended");
      passage.tokens += static_cast<double>(batch->tokens.size());
    }
    passage.seconds = monotonic_seconds() - begin;
    return passage;
  }

  Passage read(double tokens) {
    if (bytes_per_token_ == 0) bytes_per_token_ = count_bytes_per_token();
    const double wanted = tokens * bytes_per_token_;
    double bytes = 0;
    const double begin = monotonic_seconds();
    while (bytes < wanted) {
      bytes += static_cast<double>(corpus_.read(document_).size());
      document_ = (document_ + 1) % corpus_.num_documents();
    }
    return {monotonic_seconds() - begin, bytes / bytes_per_token_};
  }

 private:
  double count_bytes_per_token() {
    double bytes = 0, tokens = 0;
    for (std::uint64_t i = 0; i < corpus_.num_documents(); ++i) {
      const std::string text = corpus_.read(i);
      bytes += static_cast<double>(text.size());
      tokens += static_cast<double>(tokenizer_->encode(text, true, true).size());
    }
    return bytes / tokens;
  }

  std::shared_ptr<const data::Tokenizer> tokenizer_;
  data::Loader loader_;
  data::Corpus corpus_;
  std::uint64_t document_ = 0;
  double bytes_per_token_ = 0;
};

Pipeline::Pipeline(const DataInputs& inputs) : impl_(std::make_unique<Impl>(inputs)) {}
Pipeline::~Pipeline() = default;
Passage Pipeline::make(int batches) { return impl_->make(batches); }
Passage Pipeline::read(double tokens) { return impl_->read(tokens); }

}  // namespace titan::benchmark
