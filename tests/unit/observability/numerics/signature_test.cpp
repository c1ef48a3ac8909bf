#include "plugins/observability/numerics/signature.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::observability {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Signature, EveryBitCounts) {
  const at::Tensor tensor = at::ones({8, 9}), other = tensor.clone();
  EXPECT_EQ(hash_of(tensor), hash_of(other));
  static_cast<std::uint32_t*>(other.data_ptr())[50] ^= 1;
  EXPECT_NE(hash_of(tensor), hash_of(other));
  EXPECT_NE(hash_of(at::zeros({1})), hash_of(at::zeros({1}).neg())) << "-0 is equal to 0 and has other bits";
}

TEST(Signature, ElementsCountNotHowTheyLie) {
  const at::Tensor tensor = at::rand({5, 6});
  EXPECT_EQ(hash_of(tensor), hash_of(tensor.t().contiguous().t()));
  EXPECT_NE(hash_of(tensor), hash_of(tensor.t()));
}

TEST(Signature, TensorsWithoutMemoryAreNotRead) {
  at::Tensor released = at::ones({300});
  released.storage().set_nbytes(0);
  EXPECT_EQ(hash_of(released), 0u);
  EXPECT_EQ(hash_of({}), 0u);
}

TEST(Signature, DifferencesAreNamed) {
  const Signature a{{{"loss", 1}, {"gradient of a", 2}, {"gradient of b", 3}}};
  const Signature b{{{"loss", 1}, {"gradient of a", 7}, {"buffer c", 3}}};
  EXPECT_THAT(differences(a, a), IsEmpty());
  EXPECT_THAT(differences(a, b), ElementsAre("gradient of a", "gradient of b", "buffer c"));
}

}  // namespace
}  // namespace titan::observability
