#include "core/schedule/read_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/abi_error.hpp"
#include "core/base/error.hpp"
#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

using ::testing::HasSubstr;

/// A host that can read and free errors.
titan_host host() {
  titan_host table{};
  table.struct_size = sizeof table;
  table.error_code = [](const titan_host*, const titan_error* error) { return error->code; };
  table.error_text = [](const titan_host*, const titan_error* error) {
    return titan_string{error->text.data(), error->text.size()};
  };
  table.error_release = [](const titan_host*, titan_error* error) { delete_abi_error(error); };
  return table;
}

/// Gives the table of two_ranks(), and remembers what it was asked.
struct Plugin {
  Table table = two_ranks();
  std::string asked;
  bool refuses = false;
};

const titan_schedule_v1 kTable{
    sizeof(titan_schedule_v1),
    [](void* ctx) {
      return titan_string{static_cast<Plugin*>(ctx)->table.name.data(), 4};
    },
    [](void* ctx, const titan_schedule_request* request, std::uint32_t rank, void* sink,
       titan_error* (*emit)(void*, const titan_stage*)) {
      auto& plugin = *static_cast<Plugin*>(ctx);
      if (plugin.refuses) return new_abi_error(TITAN_ERROR_CONFIG, "too few layers: 1");
      plugin.asked =
          concat(request->num_ranks, " ranks, ", request->num_micro_batches, " micro-batches, ", request->num_blocks,
                 " blocks, last ", std::string_view(request->blocks[3].data, request->blocks[3].size));
      return emit(sink, &plugin.table.ranks[rank].stages[0]);
    },
    [](void* ctx, const titan_schedule_request*, std::uint32_t rank, void* sink,
       titan_error* (*emit)(void*, const titan_action*)) -> titan_error* {
      for (const titan_action& action : static_cast<Plugin*>(ctx)->table.ranks[rank].actions) {
        if (titan_error* error = emit(sink, &action)) return error;
      }
      return nullptr;
    }};

TEST(ReadTable, AsksForEachRank) {
  Plugin plugin;
  const titan_host core = host();
  const Table read = read_table(&core, {"pipes", &plugin, &kTable}, {2, plugin.table.blocks, 2, true});
  EXPECT_EQ(plugin.asked, "2 ranks, 2 micro-batches, 4 blocks, last output");
  EXPECT_EQ(read.name, "1F1B");
  EXPECT_EQ(to_csv(read, true), to_csv(plugin.table, true));
  EXPECT_EQ(read.stage(1)->first, 2U);
}

TEST(ReadTable, ARefusalKeepsItsCode) {
  Plugin plugin;
  plugin.refuses = true;
  const titan_host core = host();
  try {
    read_table(&core, {"pipes", &plugin, &kTable}, {2, plugin.table.blocks, 2, true});
    FAIL() << "a refusal was ignored";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::config);
    EXPECT_THAT(error.what(), HasSubstr("too few layers: 1"));
  }
}

TEST(ReadTable, APluginThatNeverStopsIsStopped) {
  Plugin plugin;
  const titan_host core = host();
  titan_schedule_v1 endless = kTable;
  endless.actions = [](void*, const titan_schedule_request*, std::uint32_t, void* sink,
                       titan_error* (*emit)(void*, const titan_action*)) {
    const titan_action idle{TITAN_ACTION_IDLE, 0, 0, 0};
    for (;;) {
      if (titan_error* error = emit(sink, &idle)) return error;
    }
  };
  try {
    read_table(&core, {"pipes", &plugin, &endless}, {2, plugin.table.blocks, 2, true});
    FAIL() << "an endless table was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::config);
    EXPECT_THAT(error.what(), HasSubstr("a pipeline schedule is too long: more than 524288 actions"));
  }
}

TEST(ReadTable, AFunctionThatIsMissingIsNamed) {
  Plugin plugin;
  const titan_host core = host();
  const auto refused = [&](auto titan_schedule_v1::*function) -> std::string {
    titan_schedule_v1 table = kTable;
    table.*function = nullptr;
    try {
      read_table(&core, {"pipes", &plugin, &table}, {2, plugin.table.blocks, 2, true});
      return "nothing was refused";
    } catch (const PluginError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refused(&titan_schedule_v1::name), HasSubstr("[pipes] the plugin's schedule lacks a function: name"));
  EXPECT_THAT(refused(&titan_schedule_v1::stages), HasSubstr("lacks a function: stages"));
  EXPECT_THAT(refused(&titan_schedule_v1::actions), HasSubstr("lacks a function: actions"));
}

}  // namespace
}  // namespace titan::schedule
