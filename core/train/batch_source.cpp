#include "core/train/batch_source.hpp"

#include <utility>

namespace titan::train {

LoaderSource::LoaderSource(data::Loader loader) : loader_(std::move(loader)), beginning_(loader_.state()) {}

void LoaderSource::rewind() { loader_.load_state(beginning_); }

}  // namespace titan::train
