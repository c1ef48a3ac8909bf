#include "core/launch/launch_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/registry.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LaunchOptions read(const config::Words& words, const std::string& log_rank = "") {
  const config::Registry registry;
  const config::Verb verb{.name = "launch",
                          .summary = {},
                          .flags = launch_flags(),
                          .positionals = {},
                          .takes_options = false,
                          .rest = "RUN"};
  config::Problems problems;
  const config::CommandLine line = config::read_command_line(registry, verb, {}, words, problems);
  problems.throw_if_any();
  return read_launch_options(
      line, [&](const char*) { return log_rank.empty() ? std::nullopt : std::optional<std::string>(log_rank); });
}

void expect_refused(const config::Words& words, const std::string& message) {
  const test::Thrown thrown = test::thrown_by([&] { return read(words); });
  EXPECT_EQ(thrown.exit, Exit::usage) << message;
  EXPECT_THAT(thrown.message, HasSubstr(message));
}

TEST(LaunchOptions, OneRankOnAFreePortOfThisMachineAlone) {
  const LaunchOptions options = read({"--", "train", "--x"});
  EXPECT_EQ(options.world_size(), 1);
  EXPECT_EQ(options.meeting_point.host, "127.0.0.1");
  EXPECT_EQ(options.meeting_point.port, 0);
  EXPECT_EQ(options.role, "rank");
  EXPECT_TRUE(options.standard_output.to_console && options.standard_output.to_file);
  EXPECT_THAT(options.command, ElementsAre("train", "--x"));
}

TEST(LaunchOptions, DashesAndUnderscoresAreTheSame) {
  EXPECT_EQ(read({"--nproc_per_node=3"}).num_local_ranks, 3);
  EXPECT_EQ(read({"--nproc-per-node", "3"}).num_local_ranks, 3);
}

TEST(LaunchOptions, RanksOfSeveralNodes) {
  const LaunchOptions options =
      read({"--nnodes=3", "--nproc-per-node=4", "--node-rank=2", "--rdzv-endpoint=node0:29600", "--rdzv_backend=c10d"});
  EXPECT_EQ(options.world_size(), 12);
  EXPECT_EQ(options.rank(1), 9);
  EXPECT_EQ(options.meeting_point.host, "node0");
  EXPECT_EQ(options.meeting_point.port, 29600);
  EXPECT_EQ(options.run_id, "none") << "nodes cannot draw the same name";
}

TEST(LaunchOptions, MeetingPointInTwoParts) {
  const LaunchOptions options = read({"--master-addr", "node0", "--master_port", "1234"});
  EXPECT_EQ(options.meeting_point.host, "node0");
  EXPECT_EQ(options.meeting_point.port, 1234);
  EXPECT_EQ(read({"--master-addr", "node0"}).meeting_point.port, 29500);
  EXPECT_EQ(read({"--master-port", "1234"}).meeting_point.host, "127.0.0.1");
}

TEST(LaunchOptions, StreamsAsTorchrunNumbersThem) {
  const LaunchOptions redirected = read({"--redirects=2"});
  EXPECT_TRUE(redirected.standard_output.to_console && !redirected.standard_output.to_file);
  EXPECT_TRUE(!redirected.standard_error.to_console && redirected.standard_error.to_file);
  const LaunchOptions both = read({"--redirects=3", "--tee=1"});
  EXPECT_TRUE(both.standard_output.to_console && both.standard_output.to_file);
  EXPECT_TRUE(!both.standard_error.to_console && both.standard_error.to_file);
  const LaunchOptions none = read({"--tee=0"});
  EXPECT_TRUE(none.standard_output.to_console && !none.standard_output.to_file);
}

TEST(LaunchOptions, AllRanksAreShown) { EXPECT_THAT(read({"--nproc-per-node=3"}).shown_ranks, ElementsAre(0, 1, 2)); }

TEST(LaunchOptions, LocalRanksFilterCountsOnTheNode) {
  const config::Words node = {"--nnodes=2", "--nproc-per-node=4", "--node-rank=1", "--rdzv-endpoint=a:1"};
  config::Words words = node;
  words.push_back("--local-ranks-filter=0,3");
  EXPECT_THAT(read(words).shown_ranks, ElementsAre(4, 7));
  EXPECT_THAT(read(words, "5").shown_ranks, ElementsAre(4, 7)) << "the flag wins over LOG_RANK";
}

TEST(LaunchOptions, LogRankCountsOverAllNodes) {
  const config::Words node = {"--nnodes=2", "--nproc-per-node=4", "--node-rank=1", "--rdzv-endpoint=a:1"};
  EXPECT_THAT(read(node, "0,5").shown_ranks, ElementsAre(5));
  EXPECT_THAT(read(node, "0").shown_ranks, ElementsAre()) << "that rank is the other node's";
}

TEST(LaunchOptions, ABadLogRankIsAConfigurationError) {
  for (const char* value : {"2", "-1", "all", "0 1"}) {
    const test::Thrown thrown = test::thrown_by([&] { return read({"--nproc-per-node=2"}, value); });
    EXPECT_EQ(thrown.exit, Exit::config) << value;
    EXPECT_THAT(thrown.message, HasSubstr("LOG_RANK: expected ranks, separated by commas, from 0 to 1"));
  }
}

TEST(LaunchOptions, BadValuesAreNamed) {
  expect_refused({"--nproc-per-node=0"}, "--nproc-per-node: expected a whole number from 1 to 1024, got \"0\"");
  expect_refused({"--nproc-per-node=gpu"}, "--nproc-per-node: expected a whole number");
  expect_refused({"--tee=4"}, "--tee: expected a whole number from 0 to 3");
  expect_refused({"--tee=0:1,1:0"}, "--tee: expected a whole number from 0 to 3");
  expect_refused({"--role=a b"}, "--role: ");
  expect_refused({"--role=a]"}, "--role: ");
  expect_refused({"--grace-seconds=-1"}, "--grace-seconds: expected seconds");
  expect_refused({"--nproc-per-node=2", "--local-ranks-filter=2"}, "--local-ranks-filter: expected local ranks");
  expect_refused({"--rdzv-endpoint=:1"}, "--rdzv-endpoint: expected HOST:PORT");
  expect_refused({"--master-port=65536"}, "--master-port: expected a whole number");
  expect_refused({"--master-addr=a:1"}, "--master-addr: expected a host without a port");
  expect_refused({"--log-dir="}, "--log-dir: expected a folder");
}

TEST(LaunchOptions, WhatIsNotDoneIsRefusedByName) {
  expect_refused({"--max-restarts=1"}, "--max-restarts: ranks are not started again");
  EXPECT_EQ(read({"--max-restarts=0"}).world_size(), 1);
  expect_refused({"--nnodes=1:4"}, "--nnodes: a range of nodes");
  expect_refused({"--rdzv-backend=etcd"}, "--rdzv-backend: ");
}

TEST(LaunchOptions, SeveralNodesNeedARankAndAMeetingPoint) {
  expect_refused({"--nnodes=2", "--rdzv-endpoint=a:1"}, "--node-rank: needed with more than one node");
  expect_refused({"--nnodes=2", "--node-rank=0"}, "--rdzv-endpoint: needed with more than one node");
  expect_refused({"--nnodes=2", "--node-rank=2", "--rdzv-endpoint=a:1"}, "--node-rank: expected a whole number");
  expect_refused({"--nnodes=2", "--node-rank=0", "--rdzv-endpoint=a:0"}, "several nodes cannot agree on port 0");
}

TEST(LaunchOptions, FlagsThatContradictEachOther) {
  expect_refused({"--rdzv-endpoint=a:1", "--master-addr=b"}, "both name the meeting point");
  expect_refused({"--standalone", "--rdzv-endpoint=a:1"}, "--standalone: is for one node");
}

TEST(LaunchOptions, AllProblemsAtOnce) {
  const test::Thrown thrown = test::thrown_by([] { return read({"--nproc-per-node=0", "--tee=9"}); });
  EXPECT_THAT(thrown.message, HasSubstr("--nproc-per-node"));
  EXPECT_THAT(thrown.message, HasSubstr("--tee"));
}

}  // namespace
}  // namespace titan::launch
