#include "core/rehearsal/hardware.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.hpp"
#include "core/base/temporary_folder.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint(std::string_view text) {
  try {
    read_hardware(text, "mine.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(Hardware, KnowsTwoBoards) {
  EXPECT_THAT(known_hardware(), ElementsAre("h100", "h200"));
  const Hardware h100 = find_hardware("h100"), h200 = find_hardware("h200");
  EXPECT_DOUBLE_EQ(h100.peak_flops, 989.4e12);
  EXPECT_DOUBLE_EQ(h200.peak_flops, h100.peak_flops);
  EXPECT_GT(h200.memory_bytes, h100.memory_bytes);
  EXPECT_THAT(h100.source, HasSubstr("data sheet"));
}

TEST(Hardware, ReadsAWholeFile) {
  const Hardware made = read_hardware(
      "peak_tflops = 100\nmemory_gib = 24\nnvlink_gb_per_s = 32.5\nnetwork_gb_per_s = 12.5\nnvlink_latency_us = 5\n"
      "network_latency_us = 20\ngpus_per_node = 4\ncompute_efficiency = 0.5\nbandwidth_efficiency = 1\n"
      "source = \"our own\"\n",
      "mine.toml");
  EXPECT_EQ(made.name, "mine.toml");
  EXPECT_DOUBLE_EQ(made.peak_flops, 1e14);
  EXPECT_DOUBLE_EQ(made.memory_bytes, 24.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(made.nvlink_bandwidth, 32.5e9);
  EXPECT_DOUBLE_EQ(made.network_latency, 2e-5);
  EXPECT_EQ(made.gpus_per_node, 4);
  EXPECT_EQ(made.source, "our own");
}

TEST(Hardware, TakesWhatAFileDoesNotSayFromItsBase) {
  const Hardware made = read_hardware("gpus_per_node = 4\nbase = \"h200\"\n", "mine.toml");
  EXPECT_EQ(made.gpus_per_node, 4);
  EXPECT_DOUBLE_EQ(made.memory_bytes, find_hardware("h200").memory_bytes);
  EXPECT_THAT(made.source, HasSubstr("based on h200"));
}

TEST(Hardware, NamesEveryWrongKeyAndValueWithItsPlace) {
  const std::string text = complaint("base = \"h100\"\npeak_tflop = 3\ncompute_efficiency = 1.5\ngpus_per_node = 0\n");
  EXPECT_THAT(text, HasSubstr("mine.toml:2:1: peak_tflop: unknown key; did you mean peak_tflops?"));
  EXPECT_THAT(text,
              HasSubstr("mine.toml:3:22: compute_efficiency: expected a finite number above 0 and at most 1, got 1.5"));
  EXPECT_THAT(text, HasSubstr("mine.toml:4:17: gpus_per_node: expected an integer"));
  EXPECT_THAT(complaint("base = \"a100\"\n"), HasSubstr("one of h100, h200"));
  EXPECT_THAT(complaint("peak_tflops = \"much\"\nbase = \"h100\""), HasSubstr("mine.toml:1:15: peak_tflops: expected"));
  EXPECT_THAT(complaint("base = \"h100\"\npeak_tflops = nan\n"), HasSubstr("mine.toml:2:15: "));
  EXPECT_THAT(complaint("base = \"h100\"\npeak_tflops = inf\n"), HasSubstr("mine.toml:2:15: "));
  EXPECT_THAT(complaint("base = ["), HasSubstr("invalid TOML"));
}

TEST(Hardware, MissesWhatNoBaseGives) {
  EXPECT_THAT(complaint("peak_tflops = 3\n"), HasSubstr("memory_gib: missing, and there is no base"));
}

TEST(Hardware, IsFoundByNameOrPath) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "mine.toml";
  std::ofstream(path) << "base = \"h100\"\nmemory_gib = 94\n";
  EXPECT_DOUBLE_EQ(find_hardware(path.string()).memory_bytes, 94.0 * 1024 * 1024 * 1024);
  EXPECT_THROW(find_hardware((folder.path() / "other.toml").string()), InputError);
  try {
    find_hardware("h10");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "[rehearsal] no such hardware, and no file: \"h10\"; did you mean h100? There are: h100, h200; or the "
                 "path of a TOML file");
  }
}

}  // namespace
}  // namespace titan::rehearsal
