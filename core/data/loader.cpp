#include "core/data/loader.hpp"

#include <exception>
#include <utility>

#include "core/data/prefetcher.hpp"
#include "core/data/row_stream.hpp"
#include "core/data/stream_state.hpp"

namespace titan::data {

class Loader::Impl {
 public:
  Impl(const LoaderOptions& options, std::shared_ptr<const Tokenizer> tokenizer, const StopFlag* stop)
      : capacity_(static_cast<std::size_t>(options.num_prefetch_batches)),
        stop_(stop),
        stream_(options, std::move(tokenizer), stop),
        handed_out_(stream_.position()) {}

  std::optional<Batch> next() {
    std::optional<PreparedBatch> prepared = capacity_ > 0 ? prefetched() : made_now();
    if (!prepared) return std::nullopt;
    handed_out_ = std::move(prepared->position);
    return std::move(prepared->batch);
  }

  std::string state() const { return write_state({stream_.identity(), handed_out_}); }

  void load_state(const std::string& text) {
    const StreamState saved = read_state(text);
    check_same_stream(saved.identity, stream_.identity());
    prefetcher_.reset();  // its thread uses the stream
    error_ = nullptr;
    try {
      stream_.restore(saved.position);
    } catch (...) {
      stream_.restore(handed_out_);
      throw;
    }
    handed_out_ = stream_.position();
  }

  const DatasetSummary& dataset() const { return stream_.summary(); }

 private:
  std::optional<PreparedBatch> make() {
    std::optional<Batch> batch = stream_.next();
    if (!batch) return std::nullopt;
    return PreparedBatch{std::move(*batch), stream_.position()};
  }

  std::optional<PreparedBatch> prefetched() {
    // Begins with the first batch: a state may still be loaded before it.
    if (!prefetcher_) prefetcher_ = std::make_unique<Prefetcher>([this] { return make(); }, capacity_, stop_);
    return prefetcher_->next();
  }

  std::optional<PreparedBatch> made_now() {
    if (error_) std::rethrow_exception(error_);
    try {
      return make();
    } catch (...) {
      // The rows of the broken batch are lost: going on would leave a gap.
      error_ = std::current_exception();
      throw;
    }
  }

  std::size_t capacity_;
  const StopFlag* stop_;
  RowStream stream_;
  StreamPosition handed_out_;
  std::exception_ptr error_;
  std::unique_ptr<Prefetcher> prefetcher_;  // last: its thread uses the stream
};

Loader::Loader(LoaderOptions options, std::shared_ptr<const Tokenizer> tokenizer, const StopFlag* stop)
    : impl_(std::make_unique<Impl>(options, std::move(tokenizer), stop)) {}

Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

std::optional<Batch> Loader::next() { return impl_->next(); }

std::string Loader::state() const { return impl_->state(); }

void Loader::load_state(const std::string& state) { impl_->load_state(state); }

std::string Loader::merge_states(std::span<const std::string> states) {
  std::vector<StreamState> read;
  read.reserve(states.size());
  for (const std::string& state : states) read.push_back(read_state(state));
  return write_state(data::merge_states(read));
}

const DatasetSummary& Loader::dataset() const { return impl_->dataset(); }

}  // namespace titan::data
