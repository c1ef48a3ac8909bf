#include "core/launch/rank_variables.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace titan::launch {
namespace {

LaunchOptions second_of_two_nodes() {
  LaunchOptions options;
  options.num_local_ranks = 4;
  options.num_nodes = 2;
  options.node_rank = 1;
  options.meeting_point = {"node0", 29500};
  options.run_id = "job";
  options.role = "trainer";
  return options;
}

TEST(RankVariables, AsTorchrunSetsThem) {
  const Variables variables = rank_variables({{"PATH", "/bin"}}, second_of_two_nodes(), 3, 29500, {}, {"/e", "/d"});
  const Variables expected = {{"PATH", "/bin"},
                              {"RANK", "7"},
                              {"WORLD_SIZE", "8"},
                              {"LOCAL_RANK", "3"},
                              {"LOCAL_WORLD_SIZE", "4"},
                              {"GROUP_RANK", "1"},
                              {"GROUP_WORLD_SIZE", "2"},
                              {"NODE_RANK", "1"},
                              {"ROLE_NAME", "trainer"},
                              {"ROLE_RANK", "7"},
                              {"ROLE_WORLD_SIZE", "8"},
                              {"MASTER_ADDR", "node0"},
                              {"MASTER_PORT", "29500"},
                              {"TORCHELASTIC_RUN_ID", "job"},
                              {"TORCHELASTIC_RESTART_COUNT", "0"},
                              {"TORCHELASTIC_MAX_RESTARTS", "0"},
                              {"TITAN_CONSOLE", "0"},
                              {"TITAN_ERROR_FILE", "/e"},
                              {"TITAN_DONE_FILE", "/d"}};
  EXPECT_EQ(variables, expected);
}

TEST(RankVariables, ThePortThatWasFoundAndItsSocket) {
  LaunchOptions options;
  const Variables variables = rank_variables({}, options, 0, 40123, {.store_socket = 7}, {});
  EXPECT_EQ(variables.at("MASTER_PORT"), "40123");
  EXPECT_EQ(variables.at("TITAN_STORE_FD"), "7");
}

TEST(RankVariables, WhoIsShownMayAskAndWhoIsNotMaySaySo) {
  LaunchOptions options;
  options.num_local_ranks = 2;
  options.shown_ranks = {1};
  const Variables shown = rank_variables({}, options, 1, 1, {.input = 5}, {});
  EXPECT_EQ(shown.at("TITAN_CONSOLE"), "1");
  EXPECT_EQ(shown.at("TITAN_INPUT_FD"), "5");
  const Variables hidden = rank_variables({}, options, 0, 1, {.notices = 6}, {});
  EXPECT_EQ(hidden.at("TITAN_CONSOLE"), "0");
  EXPECT_EQ(hidden.at("TITAN_NOTICE_FD"), "6");
}

TEST(RankVariables, WhatAnOuterLauncherLeftIsReplaced) {
  const Variables outer = {{"RANK", "5"},
                           {"TITAN_STORE_FD", "9"},
                           {"TITAN_INPUT_FD", "10"},
                           {"TITAN_NOTICE_FD", "11"},
                           {"TORCHELASTIC_ERROR_FILE", "/x"},
                           {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  const Variables variables = rank_variables(outer, {}, 0, 1, {}, {});
  EXPECT_EQ(variables.at("RANK"), "0");
  EXPECT_FALSE(variables.contains("TITAN_STORE_FD"));
  EXPECT_FALSE(variables.contains("TITAN_INPUT_FD"));
  EXPECT_FALSE(variables.contains("TITAN_NOTICE_FD"));
  EXPECT_FALSE(variables.contains("TORCHELASTIC_ERROR_FILE"));
  EXPECT_FALSE(variables.contains("TORCHELASTIC_USE_AGENT_STORE"));
}

TEST(RankVariables, OwnVariablesKeepEqualsSignsOfValues) {
  ::setenv("TITAN_TEST_OF_VARIABLES", "a=b", 1);
  EXPECT_EQ(own_variables().at("TITAN_TEST_OF_VARIABLES"), "a=b");
  ::unsetenv("TITAN_TEST_OF_VARIABLES");
}

}  // namespace
}  // namespace titan::launch
