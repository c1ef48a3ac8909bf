#include "core/train/validator.hpp"

#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/train/micro_batch.hpp"

namespace titan::train {

Validator::Validator(nn::Tree& tree, std::unique_ptr<BatchSource> source, const Options& options, const StopFlag* stop)
    : tree_(tree), source_(std::move(source)), options_(options), stop_(stop) {}

ValidationResult Validator::run() {
  const c10::NoGradGuard no_grad;
  const double begin = monotonic_seconds();
  ValidationResult result;
  double sum = 0;
  source_->rewind();
  for (std::int64_t i = 0; options_.num_batches < 0 || i < options_.num_batches; ++i) {
    if (stop_ != nullptr) stop_->check();
    std::optional<data::Batch> batch = source_->next();
    if (!batch) break;
    if (batch->num_valid == 0) continue;  // padding at the end of the set
    sum += batch_loss(*batch);
    result.num_tokens += batch->num_valid;
  }
  if (result.num_tokens == 0) throw DataError("[validator] the validation data holds no token to predict");
  result.loss = sum / static_cast<double>(result.num_tokens);
  if (!std::isfinite(result.loss)) throw NonFiniteError("[validator] the loss is not finite: ", result.loss);
  result.seconds = monotonic_seconds() - begin;
  return result;
}

double Validator::batch_loss(data::Batch& batch) {
  const MicroBatch tensors = view(batch);
  return tree_.loss(tree_.forward(tensors.tokens, tensors.positions), tensors.labels).item<double>();
}

}  // namespace titan::train
