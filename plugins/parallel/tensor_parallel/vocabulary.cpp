#include "plugins/parallel/tensor_parallel/vocabulary.hpp"

#include <ATen/core/grad_mode.h>

#include "titan/sdk/error.hpp"

namespace titan::parallel {

VocabularyPart::Rows VocabularyPart::find(const at::Tensor& words) const {
  const at::NoGradGuard no_grad;
  const at::Tensor row = words.sub(first);
  const at::Tensor is_here = row.ge(0).logical_and_(row.lt(count));
  return {row.masked_fill(is_here.logical_not(), 0), is_here};
}

void VocabularyPart::check(std::string_view module, const at::Tensor& words, bool are_labels) const {
  if (!words.is_cpu()) return;
  at::Tensor is_wrong = words.lt(0).logical_or_(words.ge(size));
  if (are_labels) is_wrong.logical_and_(words.ne(kIgnoredLabel));
  if (!is_wrong.any().item<bool>()) return;
  throw sdk::InternalError("[", module, "] ", are_labels ? "label" : "token id",
                           " out of range: ", words.masked_select(is_wrong)[0].item<std::int64_t>(),
                           ", the vocabulary has ", size,
                           are_labels ? sdk::concat(", ", kIgnoredLabel, " is ignored") : std::string());
}

}  // namespace titan::parallel
