#pragma once

#include <filesystem>

namespace titan::testing {

/// The folder of reference vectors: the environment's TITAN_VECTORS_DIR, else the tree's tests/vectors.
std::filesystem::path vectors_dir();

}  // namespace titan::testing

/// Skips the running test, naming what is missing, when the folder of vectors lacks `relative`.
#define TITAN_REQUIRE_VECTORS(relative)                                       \
  if (!std::filesystem::exists(::titan::testing::vectors_dir() / (relative))) \
  GTEST_SKIP() << "no " << (relative) << " in " << ::titan::testing::vectors_dir()
