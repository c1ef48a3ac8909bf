#pragma once

#include <ATen/core/Generator.h>

namespace titan::tensor {

/// For its lifetime, operators called through titan.tensor/1 on this thread draw from this generator where they are
/// given none. Scopes may be nested.
class RandomSource {
 public:
  /// `generator` must outlive the object; it may be undefined: then operators draw as libtorch has it.
  explicit RandomSource(const at::Generator& generator);
  ~RandomSource();
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;

 private:
  const at::Generator* before_;
};

/// The generator of the innermost scope of this thread, or null.
const at::Generator* random_source();

}  // namespace titan::tensor
