#include "plugins/observability/profiler/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/data/gzip.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::observability {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TraceFileTest : public testing::Test {
 protected:
  fs::path source() const { return folder_.path() / "raw"; }
  fs::path target() const { return folder_.path() / "new" / "trace.json.gz"; }
  void write(const std::string& text) const { std::ofstream(source()) << text; }
  void convert(const std::string& events) const {
    write_trace_file(source(), target(), "\"rank\": 3", [&](std::int64_t base) {
      base_ = base;
      return events;
    });
  }
  json read() const {
    std::string text;
    data::gunzip_in_pieces(target(), [&text](std::string_view piece) { text += piece; });
    return json::parse(text);
  }

  test::TemporaryFolder folder_;
  mutable std::int64_t base_ = -1;
};

constexpr const char* kHead = "\n{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": 17000,\n  \"traceEvents\": [\n";

TEST_F(TraceFileTest, AddsItsEventsAndMembers) {
  write(std::string(kHead) + "{\"name\": \"a\"}], \"traceName\": \"x\"}");
  convert("{\"name\": \"mine\"}");
  const json trace = read();
  EXPECT_EQ(base_, 17000);
  EXPECT_EQ(trace["rank"], 3);
  EXPECT_EQ(trace["schemaVersion"], 1);
  EXPECT_EQ(trace["traceName"], "x");
  ASSERT_EQ(trace["traceEvents"].size(), 2U);
  EXPECT_EQ(trace["traceEvents"][0]["name"], "mine");
  EXPECT_EQ(trace["traceEvents"][1]["name"], "a");
}

TEST_F(TraceFileTest, EitherListMayBeEmpty) {
  write(std::string(kHead) + "  \n], \"traceName\": \"x\"}");
  convert("{\"name\": \"mine\"}");
  EXPECT_EQ(read()["traceEvents"].size(), 1U);
  convert("");
  EXPECT_EQ(read()["traceEvents"].size(), 0U);
}

TEST_F(TraceFileTest, LongTracesAreCopiedWhole) {
  std::string text = kHead;
  for (int i = 0; i < 60000; ++i)
    text += (i > 0 ? ", {\"n\": " : "{\"n\": ") + std::to_string(i) + ", \"name\": \"an operator\"}";
  write(text + "]}");
  convert("{}");
  const json trace = read();
  ASSERT_EQ(trace["traceEvents"].size(), 60001U);
  EXPECT_EQ(trace["traceEvents"].back()["n"], 59999);
}

TEST_F(TraceFileTest, WhatIsNoTraceLeavesNoFile) {
  write("disk full");
  EXPECT_THROW(convert(""), std::runtime_error);
  fs::remove(source());
  EXPECT_THROW(convert(""), std::runtime_error);
  EXPECT_FALSE(fs::exists(target()));
}

}  // namespace
}  // namespace titan::observability
