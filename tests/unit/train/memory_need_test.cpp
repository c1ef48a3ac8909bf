#include "core/train/memory_need.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MemoryNeed, CountsEveryBox) {
  EXPECT_EQ(bytes_per_parameter({at::kFloat, at::kFloat, at::kFloat}), 16);
  EXPECT_EQ(bytes_per_parameter({at::kFloat, at::kBFloat16, at::kFloat}), 18);
  EXPECT_EQ(bytes_per_parameter({at::kDouble, at::kDouble, at::kDouble}), 32);
  EXPECT_EQ(bytes_per_parameter({at::kBFloat16, at::kBFloat16, at::kFloat}), 10);
  EXPECT_EQ(bytes_per_parameter({at::kFloat, at::kBFloat16, at::kFloat}, /*host_makes_compute=*/false), 16);
}

TEST(MemoryNeed, CountsATreesElements) {
  EXPECT_EQ(num_elements(*tiny::tiny_tree()), 2 * tiny::kVocabulary * tiny::kDim);
}

template <class... Arguments>
std::string refusal(const Arguments&... arguments) {
  try {
    check_memory(arguments...);
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "accepted";
}

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

TEST(MemoryNeed, RefusesWhatCannotFitAndShowsTheArithmetic) {
  EXPECT_EQ(refusal(1'000'000, 18, 1, kGibibyte), "accepted");
  EXPECT_EQ(refusal(8'000'000'000, 18, 1, 0), "accepted");
  EXPECT_THAT(refusal(8'000'000'000, 18, 1, 16 * kGibibyte),
              AllOf(HasSubstr("8000000000 parameters x 18 bytes"), HasSubstr("134.1 GiB"), HasSubstr("16 GiB")));
}

TEST(MemoryNeed, RanksOfOneMachineShareItsMemory) {
  EXPECT_EQ(refusal(1'000'000'000, 16, 1, 16 * kGibibyte), "accepted");
  EXPECT_THAT(refusal(1'000'000'000, 16, 2, 16 * kGibibyte),
              AllOf(HasSubstr("x 2 ranks on this machine"), HasSubstr("29.8 GiB")));
}

TEST(MemoryNeed, ARankNeedsMemoryForItsPartOnly) {
  nn::Tree tree;
  tiny::add_tiny_model(tree, 1000);
  const nn::Precision precision{at::kFloat, at::kFloat, at::kFloat};
  const std::int64_t whole = 2 * 1000 * tiny::kDim * 16;
  EXPECT_THAT(refusal(tree, precision, 1, whole - 1), HasSubstr("12000 parameters"));
  tree.set_mesh(config::Mesh({1, 1, 2, 1, 1}, 2));
  for (const auto& parameter : tree.parameters()) tree.shard(*parameter, {config::Axis::dp_shard}, 0, 0, 500);
  EXPECT_EQ(refusal(tree, precision, 1, whole / 2), "accepted");
  EXPECT_THAT(refusal(tree, precision, 1, whole / 2 - 1), HasSubstr("6000 parameters"));
}

}  // namespace
}  // namespace titan::train
