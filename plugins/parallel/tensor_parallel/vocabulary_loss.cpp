#include "plugins/parallel/tensor_parallel/vocabulary_loss.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <limits>

namespace titan::parallel {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Logits that are worked on at once: what is computed of them is of the statistics' dtype, and soon forgotten.
constexpr std::int64_t kElementsAtOnce = 1 << 20;

/// Calls body(first, count) for runs of the rows of [rows, columns].
template <class Body>
void for_rows(const at::Tensor& matrix, Body body) {
  const std::int64_t rows = matrix.size(0);
  const std::int64_t most = std::max<std::int64_t>(1, kElementsAtOnce / std::max<std::int64_t>(1, matrix.size(1)));
  for (std::int64_t first = 0; first < rows; first += most) body(first, std::min(most, rows - first));
}

at::ScalarType statistics_type(const at::Tensor& logits) {
  return logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Logits less their row's largest, in the statistics' dtype: a tensor of its own.
at::Tensor shifted(const at::Tensor& logits, const at::Tensor& tops, std::int64_t first, std::int64_t count) {
  const at::Tensor top = tops.narrow(0, first, count).unsqueeze(1);
  return logits.narrow(0, first, count).to(tops.scalar_type()).sub(top);
}

/// The largest logit of each row, over all ranks.
at::Tensor largest(const at::Tensor& logits, const strategy::Group& group) {
  const at::Tensor tops = at::full({logits.size(0)}, -std::numeric_limits<double>::infinity(),
                                   logits.options().dtype(statistics_type(logits)));
  if (logits.size(1) > 0) tops.copy_(logits.amax(1));
  group.all_reduce(tops, strategy::Reduce::max).wait();
  return tops;
}

/// logits [rows, count], labels [rows].
class VocabularyLoss : public Function<VocabularyLoss> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& labels,
                            const VocabularyPart& part, const strategy::Group& group) {
    const at::Tensor tops = largest(logits, group);
    const auto [row, is_here] = part.find(labels);
    // Of each row the sum of exponentials and the label's logit, which one rank has.
    const at::Tensor both = at::zeros({2, logits.size(0)}, tops.options());
    const at::Tensor sums = both[0], at_labels = both[1];
    if (part.count > 0) {
      for_rows(logits, [&](std::int64_t first, std::int64_t count) {
        const at::Tensor values = shifted(logits, tops, first, count);
        at_labels.narrow(0, first, count).copy_(values.gather(1, row.narrow(0, first, count).unsqueeze(1)).squeeze(1));
        sums.narrow(0, first, count).copy_(values.exp_().sum(1));
      });
      at_labels.masked_fill_(is_here.logical_not(), 0);
    }
    group.all_reduce(both).wait();
    context->save_for_backward({logits, labels, tops, sums});
    context->saved_data["first"] = part.first;
    context->saved_data["count"] = part.count;
    context->saved_data["size"] = part.size;
    const at::Tensor losses = sums.log().sub_(at_labels).masked_fill_(labels.eq(kIgnoredLabel), 0);
    return losses.sum(at::kDouble).to(tops.scalar_type());
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &logits = saved[0], &labels = saved[1], &tops = saved[2], &sums = saved[3];
    const VocabularyPart part{context->saved_data["first"].toInt(), context->saved_data["count"].toInt(),
                              context->saved_data["size"].toInt()};
    const at::Tensor wanted = at::empty_like(logits);
    if (part.count > 0) {
      const auto [row, is_here] = part.find(labels);
      const at::Tensor one = is_here.to(tops.scalar_type()), is_ignored = labels.eq(kIgnoredLabel);
      for_rows(logits, [&](std::int64_t first, std::int64_t count) {
        const auto rows = [&](const at::Tensor& all) { return all.narrow(0, first, count).unsqueeze(1); };
        const at::Tensor values = shifted(logits, tops, first, count).exp_().div_(rows(sums));
        values.scatter_(1, rows(row), values.gather(1, rows(row)).sub_(rows(one)));
        values.masked_fill_(rows(is_ignored), 0).mul_(gradients[0]);
        wanted.narrow(0, first, count).copy_(values);
      });
    }
    return {wanted, {}, {}, {}};
  }
};

}  // namespace

at::Tensor vocabulary_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const VocabularyPart& part,
                                    const strategy::Group& group) {
  return VocabularyLoss::apply(logits.flatten(0, 1).contiguous(), labels.flatten().contiguous(), part, group);
}

}  // namespace titan::parallel
