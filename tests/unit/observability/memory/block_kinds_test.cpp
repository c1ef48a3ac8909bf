#include "plugins/observability/memory/block_kinds.hpp"

#include <gtest/gtest.h>

#include "titan/abi/control.h"

namespace titan::observability {
namespace {

BlockKind kind_in(std::int32_t phase, Purpose purpose = Purpose::unknown) {
  return kind_by_place({"aten::mm", "", "layers.0", phase, purpose});
}

TEST(BlockKinds, APlaceTellsWhatNobodyKeeps) {
  EXPECT_EQ(kind_in(TITAN_IN_FORWARD), BlockKind::activation);
  EXPECT_EQ(kind_in(TITAN_IN_BACKWARD), BlockKind::activation);
  EXPECT_EQ(kind_in(TITAN_IN_VALIDATION), BlockKind::activation);
  EXPECT_EQ(kind_in(TITAN_IN_REPLAY), BlockKind::activation);
  EXPECT_EQ(kind_in(TITAN_IN_INIT), BlockKind::parameter);
  EXPECT_EQ(kind_in(TITAN_IN_OPTIMIZER), BlockKind::other);
  EXPECT_EQ(kind_in(TITAN_IN_DATA), BlockKind::other);
  EXPECT_EQ(kind_in(-1), BlockKind::other);
  EXPECT_EQ(kind_in(TITAN_IN_BACKWARD, Purpose::communication), BlockKind::communication);
  EXPECT_EQ(kind_in(TITAN_IN_INIT, Purpose::optimizer_state), BlockKind::optimizer_state);
}

TEST(BlockKinds, EachStateHasItsKind) {
  EXPECT_EQ(kind_of_state(TITAN_STATE_PARAMETER), BlockKind::parameter);
  EXPECT_EQ(kind_of_state(TITAN_STATE_COMPUTE), BlockKind::parameter);
  EXPECT_EQ(kind_of_state(TITAN_STATE_GRADIENT), BlockKind::gradient);
  EXPECT_EQ(kind_of_state(TITAN_STATE_OPTIMIZER), BlockKind::optimizer_state);
  EXPECT_EQ(kind_of_state(TITAN_STATE_BUFFER), BlockKind::buffer);
  EXPECT_EQ(kind_of_state(99), BlockKind::other);
}

TEST(BlockKinds, NamesAreThoseOfTheFormat) {
  std::string all;
  for (const BlockKind kind : kBlockKinds) all.append(kind_name(kind)).append(" ");
  EXPECT_EQ(all, "parameter gradient optimizer_state activation communication buffer other ");
}

TEST(StateBlocksTest, SeveralTensorsMayLieInOneBlock) {
  StateBlocks blocks;
  blocks.add(0x1000, 400, BlockKind::gradient, "a.weight");
  blocks.add(0x1000, 400, BlockKind::gradient, "b.weight");
  blocks.add(0x1000, 400, BlockKind::buffer, "c");
  blocks.add(0x2000, 8, BlockKind::parameter, "d.weight");
  blocks.add(0, 8, BlockKind::parameter, "on no device");
  blocks.add(0x3000, 0, BlockKind::parameter, "released");
  ASSERT_NE(blocks.find(0x1000), nullptr);
  EXPECT_EQ(blocks.find(0x1000)->kind, BlockKind::gradient);
  EXPECT_EQ(blocks.find(0x1000)->text(), "a.weight and 1 more");
  EXPECT_EQ(blocks.find(0x2000)->text(), "d.weight");
  EXPECT_EQ(blocks.find(0x4000), nullptr);
  EXPECT_EQ(blocks.all().size(), 2U);
}

}  // namespace
}  // namespace titan::observability
