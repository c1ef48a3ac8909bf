#include "core/checkpoint/hub/model_names.hpp"

#include <gmock/gmock.h>

#include <string_view>

#include "core/base/error.hpp"
#include "core/plugin/host_table.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;

titan_string borrowed(std::string_view text) { return {text.data(), text.size()}; }

/// A model plugin that has the names it is given.
struct NamedModel {
  std::vector<titan_hf_name> names;

  std::vector<HubName> read() {
    titan_model_v1 table{};
    table.struct_size = sizeof table;
    table.hf_names = [](void* ctx, void* sink, titan_error* (*emit)(void*, const titan_hf_name*)) -> titan_error* {
      for (const titan_hf_name& name : static_cast<NamedModel*>(ctx)->names) {
        if (titan_error* error = emit(sink, &name)) return error;
      }
      return nullptr;
    };
    const plugin::HostTable host({});
    return hub_names_of(host.get(), {"named", this, &table});
  }
};

std::string refusal(std::string_view ours, std::string_view theirs, std::int32_t transform) {
  return titan::testing::error_text<PluginError>([&] {
    NamedModel{{{borrowed(ours), borrowed(theirs), transform, 2}}}.read();
  });
}

TEST(HubNamesOfModel, EveryTransformIsRead) {
  NamedModel model{{{borrowed("a"), borrowed("x"), TITAN_HF_SAME, 0},
                    {borrowed("b"), borrowed("y"), TITAN_HF_ROPE_HALVES, 8},
                    {borrowed("c"), borrowed("z.*"), TITAN_HF_STACKED, 4}}};
  const std::vector<HubName> names = model.read();
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].name, "a");
  EXPECT_EQ(names[0].hub_name, "x");
  EXPECT_EQ(names[0].transform, HubTransform::same);
  EXPECT_EQ(names[1].transform, HubTransform::rope_halves);
  EXPECT_EQ(names[1].count, 8);
  EXPECT_EQ(names[2].transform, HubTransform::stacked);
  EXPECT_EQ(names[2].count, 4);
}

TEST(HubNamesOfModel, WhatCannotBeIsThePluginsMistake) {
  EXPECT_THAT(refusal("", "x", TITAN_HF_SAME), HasSubstr("a hub name is not complete"));
  EXPECT_THAT(refusal("a", "", TITAN_HF_SAME), HasSubstr("a hub name is not complete: a, "));
  EXPECT_THAT(refusal("a", "x", 7), HasSubstr("a, x, transform 7"));
  EXPECT_THAT(refusal("a", "x", TITAN_HF_STACKED), HasSubstr("has a '*', and no other: x"));
  EXPECT_THAT(refusal("a", "x.*", TITAN_HF_SAME), HasSubstr("has a '*', and no other: x.*"));
}

}  // namespace
}  // namespace titan::checkpoint
