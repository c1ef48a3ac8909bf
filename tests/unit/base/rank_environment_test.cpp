#include "core/base/rank_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "core/base/error.hpp"

namespace titan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

std::optional<RankEnvironment> read(const Variables& variables) {
  return read_rank_environment([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

/// The message of the ConfigError, or an empty text when there is none.
std::string refusal(const Variables& variables) {
  try {
    read(variables);
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.exit(), Exit::config);
    return error.what();
  }
  return {};
}

Variables four_ranks(Variables changed = {}) {
  changed.merge(Variables{{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}});
  return changed;
}

TEST(RankEnvironmentTest, WithoutVariablesThereIsOneRank) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read({{"MASTER_ADDR", "somewhere"}, {"MASTER_PORT", "1"}, {"LOCAL_RANK", "0"}}));
}

TEST(RankEnvironmentTest, EverythingThatTorchrunSetsIsRead) {
  const auto ranks = read({{"RANK", "5"},
                           {"WORLD_SIZE", "8"},
                           {"LOCAL_RANK", "1"},
                           {"LOCAL_WORLD_SIZE", "4"},
                           {"MASTER_ADDR", "node-0.cluster"},
                           {"MASTER_PORT", "29500"},
                           {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                           {"TORCHELASTIC_RESTART_COUNT", "3"},
                           {"TORCHELASTIC_RUN_ID", "none"}});
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->rank, 5);
  EXPECT_EQ(ranks->world_size, 8);
  EXPECT_EQ(ranks->local_rank, 1);
  EXPECT_EQ(ranks->local_world_size, 4);
  EXPECT_EQ(ranks->master_address, "node-0.cluster");
  EXPECT_EQ(ranks->master_port, 29500);
  EXPECT_TRUE(ranks->launcher_has_store);
  EXPECT_EQ(ranks->restart_count, 3);
  EXPECT_EQ(ranks->run_id, "none");
  EXPECT_EQ(ranks->store_socket, -1);
}

TEST(RankEnvironmentTest, ByHandFourVariablesAreEnough) {
  const auto ranks = read(four_ranks());
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->local_rank, 2);
  EXPECT_EQ(ranks->local_world_size, 4);
  EXPECT_FALSE(ranks->launcher_has_store);
  EXPECT_EQ(ranks->restart_count, 0);
  EXPECT_EQ(ranks->run_id, "");
}

TEST(RankEnvironmentTest, OneRankNeedsNoAddress) {
  const auto ranks = read({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->master_address, "");
  EXPECT_EQ(ranks->master_port, 0);
}

TEST(RankEnvironmentTest, OurLauncherHandsOverItsSocket) {
  EXPECT_EQ(read(four_ranks({{"TITAN_STORE_FD", "7"}}))->store_socket, 7);
  EXPECT_THAT(refusal(four_ranks({{"TITAN_STORE_FD", "2"}})), HasSubstr("TITAN_STORE_FD must be an integer"));
  EXPECT_THAT(refusal(four_ranks({{"TITAN_STORE_FD", "4294967299"}})), HasSubstr("\"4294967299\""));
}

TEST(RankEnvironmentTest, MissingPartnersAreNamed) {
  EXPECT_EQ(
      refusal({{"WORLD_SIZE", "4"}}),
      "[ranks] the environment variable RANK is missing, though WORLD_SIZE is set: WORLD_SIZE \"4\": set both, as "
      "torchrun does, or neither");
  EXPECT_THAT(refusal({{"RANK", "3"}}), HasSubstr("WORLD_SIZE is missing, though RANK is set: RANK \"3\""));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}}),
              HasSubstr("MASTER_ADDR is missing: MASTER_ADDR and MASTER_PORT say where ranks meet: WORLD_SIZE 2"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}), HasSubstr("MASTER_PORT is missing"));
}

TEST(RankEnvironmentTest, RankIsBelowWorldSize) {
  EXPECT_EQ(refusal(four_ranks({{"RANK", "4"}})),
            "[ranks] the environment variable RANK must be an integer from 0 to 3 (WORLD_SIZE 4): \"4\"");
  EXPECT_EQ(read(four_ranks({{"RANK", "3"}}))->rank, 3);
  EXPECT_EQ(read(four_ranks({{"RANK", "0"}}))->rank, 0);
}

TEST(RankEnvironmentTest, WhatIsNoNumberIsRefusedWithItsName) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT",
                           "TORCHELASTIC_RESTART_COUNT", "TITAN_STORE_FD"}) {
    for (const char* value : {"", "one", "-1", "+1", " 1", "1 ", "1.0", "0x1", "99999999999999999999"}) {
      EXPECT_THAT(
          refusal(four_ranks({{name, value}})),
          AllOf(HasSubstr(concat("variable ", name, " must be an integer")), HasSubstr(concat('"', value, '"'))))
          << name << " " << value;
    }
  }
}

TEST(RankEnvironmentTest, NumbersHaveBounds) {
  EXPECT_EQ(refusal(four_ranks({{"WORLD_SIZE", "0"}})),
            "[ranks] the environment variable WORLD_SIZE must be an integer of at least 1: \"0\"");
  EXPECT_THAT(refusal(four_ranks({{"WORLD_SIZE", "2147483648"}})), HasSubstr("\"2147483648\""));
  for (const char* port : {"0", "65536"}) {
    EXPECT_THAT(refusal(four_ranks({{"MASTER_PORT", port}})), HasSubstr("an integer from 1 to 65535"));
  }
  EXPECT_EQ(read(four_ranks({{"MASTER_PORT", "1"}}))->master_port, 1);
  EXPECT_EQ(read(four_ranks({{"MASTER_PORT", "65535"}}))->master_port, 65535);
}

TEST(RankEnvironmentTest, LocalRankIsBelowLocalWorldSize) {
  EXPECT_THAT(refusal(four_ranks({{"LOCAL_WORLD_SIZE", "5"}})), HasSubstr("from 1 to 4 (WORLD_SIZE 4)"));
  EXPECT_THAT(refusal(four_ranks({{"LOCAL_WORLD_SIZE", "2"}, {"LOCAL_RANK", "2"}})),
              HasSubstr("LOCAL_RANK must be an integer from 0 to 1 (LOCAL_WORLD_SIZE 2)"));
  EXPECT_THAT(refusal(four_ranks({{"LOCAL_WORLD_SIZE", "2"}})), HasSubstr("LOCAL_RANK is missing"));
  EXPECT_EQ(read(four_ranks({{"LOCAL_WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}}))->local_rank, 0);
}

TEST(RankEnvironmentTest, AddressIsAName) {
  for (const std::string& address :
       {std::string(), std::string("a b"), std::string("a\n"), std::string("\x1b[31m"), std::string(254, 'a')}) {
    EXPECT_THAT(refusal(four_ranks({{"MASTER_ADDR", address}})), HasSubstr("MASTER_ADDR must be a host name"));
  }
  EXPECT_EQ(read(four_ranks({{"MASTER_ADDR", "::1"}}))->master_address, "::1");
}

TEST(RankEnvironmentTest, AgentStoreIsABoolean) {
  for (const char* value : {"True", "true", "1"}) {
    EXPECT_TRUE(read(four_ranks({{"TORCHELASTIC_USE_AGENT_STORE", value}}))->launcher_has_store) << value;
  }
  for (const char* value : {"False", "false", "0"}) {
    EXPECT_FALSE(read(four_ranks({{"TORCHELASTIC_USE_AGENT_STORE", value}}))->launcher_has_store) << value;
  }
  EXPECT_THAT(refusal(four_ranks({{"TORCHELASTIC_USE_AGENT_STORE", "yes"}})), HasSubstr("must be True or False"));
}

TEST(RankEnvironmentTest, OurLauncherSaysWhoIsShown) {
  EXPECT_TRUE(read(four_ranks({}))->is_shown);
  EXPECT_TRUE(read(four_ranks({{"TITAN_CONSOLE", "1"}}))->is_shown);
  EXPECT_FALSE(read(four_ranks({{"TITAN_CONSOLE", "0"}}))->is_shown);
}

TEST(RankEnvironmentTest, HugeValuesAreShortenedInMessages) {
  EXPECT_LT(refusal(four_ranks({{"RANK", std::string(100'000, '9')}})).size(), 400U);
}

TEST(RankEnvironmentTest, TheProcessHasAnEnvironment) {
  ASSERT_EQ(setenv("RANK", "7", 1), 0);
  ASSERT_EQ(unsetenv("WORLD_SIZE"), 0);
  EXPECT_THROW(read_rank_environment(), ConfigError);
  ASSERT_EQ(unsetenv("RANK"), 0);
  EXPECT_FALSE(read_rank_environment());
}

}  // namespace
}  // namespace titan
