#include "core/train/validator.hpp"

#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/train/micro_batch.hpp"

namespace titan::train {
namespace {

constexpr std::int64_t kIgnored = -100;

/// What a rank runs while others still have data: the parallel parts of a forward need every rank.
data::Batch idle_batch(std::int64_t rows, std::int64_t length) {
  const auto size = static_cast<std::size_t>(rows * length);
  data::Batch batch{rows,
                    length,
                    std::vector<std::int64_t>(size),
                    std::vector<std::int64_t>(size, kIgnored),
                    std::vector<std::int64_t>(size),
                    0};
  for (std::size_t i = 0; i < size; ++i) batch.positions[i] = static_cast<std::int64_t>(i) % length;
  return batch;
}

/// The tree's calls are evaluation, for a scope.
class EvaluationPhase {
 public:
  explicit EvaluationPhase(nn::Tree& tree) : tree_(tree) { tree_.set_phase(nn::Phase::evaluation); }
  ~EvaluationPhase() { tree_.set_phase(nn::Phase::training); }
  EvaluationPhase(const EvaluationPhase&) = delete;
  EvaluationPhase& operator=(const EvaluationPhase&) = delete;

 private:
  nn::Tree& tree_;
};

}  // namespace

Validator::Validator(nn::Tree& tree, std::unique_ptr<BatchSource> source, const Options& options, const StopFlag* stop)
    : tree_(tree), source_(std::move(source)), options_(options), stop_(stop) {}

ValidationResult Validator::run() {
  const c10::NoGradGuard no_grad;
  const EvaluationPhase evaluation(tree_);
  const double begin = monotonic_seconds();
  Outcome mine;
  source_->rewind();
  bool has_more = true;
  for (std::int64_t i = 0;; ++i) {
    std::optional<data::Batch> batch = fetch(i, has_more);
    const Outlook outlook = agree_on_batch(batch);
    if (outlook.num_tokens == 0) break;
    if (outlook.num_valid == 0) continue;  // padding at the end of the set
    if (!batch) batch = idle_batch(options_.rows, options_.length);
    mine.loss_sum += batch_loss(*batch, i);
    mine.num_valid += batch->num_valid;
  }
  const Outcome all = agree(options_.ranks, mine);
  ValidationResult result{all.loss_sum / static_cast<double>(all.num_valid), all.num_valid, 0};
  if (all.num_valid == 0 || !std::isfinite(result.loss)) part();
  if (all.num_valid == 0) throw DataError("[validator] the validation data holds no token to predict");
  if (!std::isfinite(result.loss)) throw NonFiniteError("[validator] the loss is not finite: ", result.loss);
  result.seconds = monotonic_seconds() - begin;
  return result;
}

std::optional<data::Batch> Validator::fetch(std::int64_t index, bool& has_more) {
  if (stop_ != nullptr && is_alone(options_.ranks)) stop_->check();
  if (!has_more || (options_.num_batches >= 0 && index >= options_.num_batches)) return std::nullopt;
  std::optional<data::Batch> batch = source_->next();
  has_more = batch.has_value();
  return batch;
}

Outlook Validator::agree_on_batch(const std::optional<data::Batch>& batch) const {
  Outlook mine;
  if (batch) mine = {batch->rows * batch->length, batch->num_valid, 0, 0};
  if (stop_ != nullptr && !is_alone(options_.ranks)) mine.stop_signal = stop_->requested();
  const Outlook outlook = agree(options_.ranks, mine);
  if (outlook.stop_signal == 0) return outlook;
  part();
  throw Interrupted(outlook.stop_signal);
}

double Validator::batch_loss(data::Batch& batch, std::int64_t index) {
  MicroBatch tensors = view(batch);
  const MicroBatchEvent event{.index = index, .is_last = false, .training = false};
  if (options_.strategies != nullptr) {
    options_.strategies->micro_batch_begin(event);
    tensors = options_.strategies->split_batch(tensors);
  }
  const at::Tensor loss = tree_.loss(tree_.forward(tensors.tokens, tensors.positions), tensors.labels);
  if (options_.strategies != nullptr) options_.strategies->micro_batch_end(event);
  return loss.item<double>();
}

void Validator::part() const {
  if (options_.ranks != nullptr) options_.ranks->part();
}

}  // namespace titan::train
