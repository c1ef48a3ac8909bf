#include "plugins/parallel/pipeline/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "tests/unit/parallel/pipeline/lint_rows.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_csv(text, "order.csv");
    return "nothing was refused";
  } catch (const sdk::ConfigError& error) {
    return error.what();
  }
}

TEST(Csv, ReadsOneLineARank) {
  const Rows rows = parse_csv("0F0,0F1,,0B0\r\n 1F0 , 1SEND_B0,\n\n", "order.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(text_of(rows[0]), "0F0 0F1 0B0");
  EXPECT_EQ(text_of(rows[1]), "1F0 1SEND_B0");
}

TEST(Csv, KnowsWhetherThereAreTransfers) {
  EXPECT_FALSE(has_transfers(parse_csv("0F0,0B0\n", "")));
  EXPECT_TRUE(has_transfers(parse_csv("0F0,0B0\n1RECV_F0\n", "")));
}

TEST(Csv, WhatIsNoActionIsNamedWithItsPlace) {
  for (const char* word : {"F0", "0F", "0", "0X1", "0F1x", "-1F0", "99999999999F0", "0F4294967296", "0FF1", "0f1"}) {
    EXPECT_THAT(refusal(std::string("0F0\n0F1,") + word),
                HasSubstr(std::string("order.csv, line 2, action 2: ") + word));
  }
}

TEST(Csv, HalvesOfABackwardAreRefused) { EXPECT_THAT(refusal("0F0,0I0,0W0"), HasSubstr("action 2: 0I0: expected")); }

TEST(Csv, WordsOfStrangersAreShownSafely) {
  EXPECT_THAT(refusal(std::string("\x1b[31m") + std::string(100, 'x')), HasSubstr("?[31mxxx"));
  EXPECT_LT(refusal(std::string(100000, 'x')).size(), 300U);
}

TEST(Csv, AByteOrderMarkIsNoAction) {
  EXPECT_EQ(text_of(parse_csv("\xEF\xBB\xBF"
                              "0F0,0B0\n",
                              "order.csv")[0]),
            "0F0 0B0");
}

std::string unreadable(const std::string& path) {
  try {
    read_csv_file(path);
    return "the file was read";
  } catch (const sdk::InputError& error) {
    return error.what();
  }
}

TEST(Csv, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(unreadable("/no/such/order.csv"), HasSubstr("cannot be read: /no/such/order.csv"));
}

TEST(Csv, WhatIsNoRegularFileIsNamedAndNotWaitedFor) {
  const std::string fifo = ::testing::TempDir() + "titan_order_" + std::to_string(::getpid()) + ".fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(unreadable(fifo), HasSubstr("is not a regular file: " + fifo));
  std::remove(fifo.c_str());
  EXPECT_THAT(unreadable(::testing::TempDir()), HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace titan::parallel::pipeline
