#include "core/train/determinism.hpp"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isnan.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

TEST(Determinism, HoldsForItsScope) {
  const bool before = at::globalContext().deterministicAlgorithms();
  {
    const DeterministicScope scope(true, true);
    EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
    EXPECT_TRUE(at::globalContext().deterministicAlgorithmsWarnOnly());
    const DeterministicScope inner(true, false);
    EXPECT_FALSE(at::globalContext().deterministicAlgorithmsWarnOnly());
  }
  EXPECT_EQ(at::globalContext().deterministicAlgorithms(), before);
}

TEST(Determinism, DoesNothingUnlessAsked) {
  const bool before = at::globalContext().deterministicAlgorithms();
  const DeterministicScope scope(false, false);
  EXPECT_EQ(at::globalContext().deterministicAlgorithms(), before);
}

TEST(Determinism, TakesDeterministicKernelsAndFillsMemory) {
  at::globalContext().setBenchmarkCuDNN(true);
  {
    const DeterministicScope scope(true, false);
    EXPECT_TRUE(at::globalContext().deterministicCuDNN());
    EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
    EXPECT_TRUE(at::globalContext().deterministicFillUninitializedMemory());
    EXPECT_TRUE(at::isnan(at::empty({100})).all().item<bool>());
  }
  EXPECT_TRUE(at::globalContext().benchmarkCuDNN());
  at::globalContext().setBenchmarkCuDNN(false);
}

TEST(Determinism, SetsTheWorkspaceOfCublasAndRefusesAnother) {
  unsetenv("CUBLAS_WORKSPACE_CONFIG");
  { const DeterministicScope scope(true, false); }
  EXPECT_STREQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
  setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0", 1);
  EXPECT_NO_THROW(DeterministicScope(false, false));
  try {
    const DeterministicScope scope(true, false);
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("CUBLAS_WORKSPACE_CONFIG to be unset, :4096:8 or :16:8: \":0:0\""));
  }
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
  unsetenv("CUBLAS_WORKSPACE_CONFIG");
}

TEST(Determinism, DrawsSeedsThatDiffer) {
  std::set<std::int64_t> seeds;
  for (int i = 0; i < 16; ++i) {
    const std::int64_t seed = draw_seed();
    EXPECT_GE(seed, 0);
    seeds.insert(seed);
  }
  EXPECT_GT(seeds.size(), 1u);
}

}  // namespace
}  // namespace titan::train
