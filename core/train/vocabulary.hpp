#pragma once

#include <cstdint>
#include <string>

namespace titan::train {

/// ConfigError, naming both, unless every id of the tokenizer is a row of the model's embedding.
void check_vocabulary(std::int64_t tokenizer_size, const std::string& tokenizer_path, std::int64_t model_size);

}  // namespace titan::train
