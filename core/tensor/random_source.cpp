#include "core/tensor/random_source.hpp"

#include <utility>

namespace titan::tensor {
namespace {

thread_local const at::Generator* current = nullptr;  // set by RandomSource only

}  // namespace

RandomSource::RandomSource(const at::Generator& generator)
    : before_(std::exchange(current, generator.defined() ? &generator : nullptr)) {}

RandomSource::~RandomSource() { current = before_; }

const at::Generator* random_source() { return current; }

}  // namespace titan::tensor
