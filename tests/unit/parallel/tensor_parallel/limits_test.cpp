#include "plugins/parallel/tensor_parallel/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

titan_mesh_facts layout(std::uint32_t tp, std::uint32_t cp = 1, std::uint32_t ep = 1) {
  return {sizeof(titan_mesh_facts), tp * cp, 1, 1, 1, cp, tp, ep};
}

titan_model_facts model(std::int64_t heads = 12, std::int64_t kv_heads = 8) {
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  facts.num_heads = heads;
  facts.num_kv_heads = kv_heads;
  return facts;
}

std::string error_of(const titan_mesh_facts& mesh, const titan_model_facts& facts, const TensorSettings& settings) {
  try {
    check_limits(mesh, facts, settings);
  } catch (const sdk::ConfigError& error) {
    return error.what();
  }
  return "(nothing)";
}

TEST(TensorLimits, LetEverythingPassThatDivides) {
  for (const std::uint32_t tp : {1, 2, 4}) EXPECT_EQ(error_of(layout(tp), model(), {true, 16}), "(nothing)");
  EXPECT_EQ(error_of(layout(1), model(7, 7), {true, 5}), "(nothing)") << "one rank splits nothing";
  EXPECT_EQ(error_of(layout(2, 2, 2), model(), {true, 16}), "(nothing)");
}

TEST(TensorLimits, NameHeadsAndKvHeads) {
  EXPECT_THAT(error_of(layout(8), model(), {true, 16}),
              AllOf(HasSubstr("parallelism.tensor_parallel_degree must divide the numbers of heads and kv heads: 8, "
                              "heads 12, kv heads 8, 12 = 1 x 8 + 4"),
                    HasSubstr("1, 2, 4 would fit")));
  EXPECT_THAT(error_of(layout(3), model(), {true, 18}), HasSubstr("8 = 2 x 3 + 2"));
}

TEST(TensorLimits, NameTheSequence) {
  EXPECT_THAT(error_of(layout(4), model(), {true, 30}),
              AllOf(HasSubstr("training.max_context_length must be a multiple of parallelism.tensor_parallel_degree 4: "
                              "30 = 7 x 4 + 2: 28 or 32 would fit"),
                    HasSubstr("--parallelism.no_enable_sequence_parallel")));
  EXPECT_THAT(error_of(layout(4), model(), {true, 3}), HasSubstr("3 = 0 x 4 + 3: 4 would fit"));
  EXPECT_EQ(error_of(layout(4), model(), {false, 30}), "(nothing)") << "nothing is cut";
}

TEST(TensorLimits, NameTheSequenceThatIsCutTwice) {
  EXPECT_THAT(error_of(layout(4, 2), model(), {true, 24}),
              AllOf(HasSubstr("tensor_parallel_degree 4 x 2 x parallelism.context_parallel_degree 2 = 16"),
                    HasSubstr("24 = 1 x 16 + 8: 16 or 32 would fit")));
  EXPECT_EQ(error_of(layout(4, 2), model(), {true, 32}), "(nothing)");
  EXPECT_EQ(error_of(layout(4, 2), model(), {true, 24, 1}), "(nothing)") << "a rank has one chunk";
  EXPECT_THAT(error_of(layout(4, 2), model(), {true, 20, 1}),
              HasSubstr("tensor_parallel_degree 4 x parallelism.context_parallel_degree 2 = 8: 20 = 2 x 8 + 4"));
}

TEST(TensorLimits, NameExpertsThatNeedASplitSequence) {
  EXPECT_THAT(error_of(layout(2, 1, 2), model(), {false, 16}),
              AllOf(HasSubstr("parallelism.expert_parallel_degree 2"),
                    HasSubstr("parallelism.enable_sequence_parallel false")));
}

TEST(TensorLimits, ListTheSmallestDivisors) {
  try {
    require_divisible(5040, 11, "the number of somethings");
    FAIL() << "5040 is no multiple of 11";
  } catch (const sdk::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("must divide the number of somethings: 11, 5040 = 458 x 11 + 2: "
                                        "1, 2, 3, 4, 5, 6, 7, 8, ... would fit"));
  }
  EXPECT_NO_THROW(require_divisible(5040, 7, "it"));
}

}  // namespace
}  // namespace titan::parallel
