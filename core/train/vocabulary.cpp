#include "core/train/vocabulary.hpp"

#include "core/base/error.hpp"

namespace titan::train {

void check_vocabulary(std::int64_t tokenizer_size, const std::string& tokenizer_path, std::int64_t model_size) {
  if (tokenizer_size <= model_size) return;
  throw ConfigError("[train] the tokenizer has more entries than the model's vocabulary: ", tokenizer_size, " in ",
                    printable(tokenizer_path), " (--hf_assets_path), ", model_size,
                    " in the model (--model.vocab_size): choose the tokenizer that belongs to the model, or a larger "
                    "vocabulary");
}

}  // namespace titan::train
