#include "core/train/validator.hpp"

#include <c10/core/GradMode.h>

#include <cmath>
#include <optional>
#include <utility>

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
  for (std::int64_t first = 0;; first += group_size()) {
    std::vector<data::Batch> batches = fetch(first, has_more);
    const Outlook outlook = agree_on(batches);
    if (outlook.num_tokens == 0) break;
    if (outlook.num_valid == 0) continue;  // padding at the end of the set
    mine.num_valid += count_valid(batches);
    batches.resize(static_cast<std::size_t>(group_size()), idle_batch(options_.rows, options_.length));
    mine.loss_sum += loss_of(batches, first);
  }
  const Outcome all = agree(options_.ranks, mine);
  ValidationResult result{all.loss_sum / static_cast<double>(all.num_valid), all.num_valid, 0};
  if (all.num_valid == 0 || !std::isfinite(result.loss)) part();
  if (all.num_valid == 0) throw DataError("[validator] the validation data holds no token to predict");
  if (!std::isfinite(result.loss)) throw NonFiniteError("[validator] the loss is not finite: ", result.loss);
  result.seconds = monotonic_seconds() - begin;
  return result;
}

std::int64_t Validator::group_size() const {
  return options_.pipeline == nullptr ? 1 : static_cast<std::int64_t>(options_.pipeline->num_micro_batches());
}

std::vector<data::Batch> Validator::fetch(std::int64_t first, bool& has_more) {
  std::vector<data::Batch> batches;
  for (std::int64_t i = first; i < first + group_size(); ++i) {
    if (stop_ != nullptr && is_alone(options_.ranks)) stop_->check();
    if (!has_more || (options_.num_batches >= 0 && i >= options_.num_batches)) break;
    std::optional<data::Batch> batch = source_->next();
    has_more = batch.has_value();
    if (batch) batches.push_back(std::move(*batch));
  }
  return batches;
}

Outlook Validator::agree_on(const std::vector<data::Batch>& batches) const {
  Outlook mine;
  mine.num_tokens = count_tokens(batches);
  mine.num_valid = count_valid(batches);
  if (stop_ != nullptr && !is_alone(options_.ranks)) mine.stop_signal = stop_->requested();
  const Outlook outlook = agree(options_.ranks, mine);
  if (outlook.stop_signal == 0) return outlook;
  part();
  throw Interrupted(outlook.stop_signal);
}

double Validator::loss_of(std::vector<data::Batch>& batches, std::int64_t first) {
  if (options_.pipeline == nullptr) return batch_loss(batches.front(), first);
  PipelineGroup group{{}, first, false, 0};
  for (data::Batch& batch : batches)
    group.micro_batches.push_back(own_part(batch, options_.strategies, tree_.device()));
  return options_.pipeline->evaluate(group);
}

double Validator::batch_loss(data::Batch& batch, std::int64_t index) {
  const MicroBatchEvent event{.index = index, .is_last = false, .training = false};
  if (options_.strategies != nullptr) options_.strategies->micro_batch_begin(event);
  const MicroBatch tensors = own_part(batch, options_.strategies, tree_.device());
  const at::Tensor loss = tree_.forward_loss(tensors.tokens, tensors.positions, tensors.labels);
  if (options_.strategies != nullptr) options_.strategies->micro_batch_end(event);
  return loss.item<double>();
}

void Validator::part() const {
  if (options_.ranks != nullptr) options_.ranks->part();
}

}  // namespace titan::train
