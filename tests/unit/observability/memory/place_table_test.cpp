#include "plugins/observability/memory/place_table.hpp"

#include <gtest/gtest.h>

#include "titan/abi/place.h"

namespace titan::observability {
namespace {

TEST(PlaceTable, APlaceThatComesAgainHasItsNumber) {
  PlaceTable table;
  Where where{"aten::mm", "", "layers.0", TITAN_IN_FORWARD, 1};
  const std::uint32_t first = table.number(where);
  where.step = 2;
  EXPECT_EQ(table.number(where), first) << "steps are not part of it";
  where.phase = TITAN_IN_BACKWARD;
  where.node = "MmBackward0";
  const std::uint32_t second = table.number(where);
  EXPECT_NE(second, first);
  where.purpose = Purpose::communication;
  EXPECT_NE(table.number(where), second);
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table[second].op, "aten::mm");
  EXPECT_EQ(table[second].node, "MmBackward0");
  EXPECT_EQ(table[second].module, "layers.0");
  EXPECT_EQ(table[second].phase, TITAN_IN_BACKWARD);
}

TEST(PlaceTable, ScopesSayWhatABlockIsFor) {
  EXPECT_EQ(purpose_of("communication::all_gather"), Purpose::communication);
  EXPECT_EQ(purpose_of("optimizer::state"), Purpose::optimizer_state);
  EXPECT_EQ(purpose_of("ProfilerStep#3"), Purpose::unknown);
  EXPECT_EQ(purpose_of(""), Purpose::unknown);
  EXPECT_EQ(module_of("communication::all_gather layers.0"), "layers.0");
  EXPECT_EQ(module_of("communication::all_gather"), "");
  EXPECT_EQ(module_of("some other scope"), "");
}

TEST(PlaceTable, AModuleWhoseNameLiesWhereAnothersDidIsAnother) {
  PlaceTable table;
  std::string module = "layers.1";
  const std::uint32_t first = table.number({"aten::mm", "", module, TITAN_IN_FORWARD, 1});
  module = "layers.2";
  const std::uint32_t second = table.number({"aten::mm", "", module, TITAN_IN_FORWARD, 2});
  EXPECT_NE(second, first);
  EXPECT_EQ(table[first].module, "layers.1");
  EXPECT_EQ(table[second].module, "layers.2");
  EXPECT_EQ(table.number({"aten::mm", "", module, TITAN_IN_FORWARD, 3}), second);
}

TEST(PlaceTable, KeepsCopiesOfTexts) {
  PlaceTable table;
  std::string module = "layers.1";
  const std::uint32_t number = table.number({"aten::mm", "", module, TITAN_IN_FORWARD, 1});
  module = "overwritten";
  EXPECT_EQ(table[number].module, "layers.1");
}

}  // namespace
}  // namespace titan::observability
