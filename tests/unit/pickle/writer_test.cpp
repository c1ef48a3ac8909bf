#include "core/pickle/writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>

#include "core/pickle/document.hpp"

namespace titan::pickle {
namespace {

constexpr std::array<std::string_view, 3> kAllowed = {"torch.Size", "torch.float32", "a.b.C"};

Document written(const std::function<void(Writer&)>& write) {
  Writer writer;
  write(writer);
  return Document::read(writer.finish(), kAllowed, "written");
}

TEST(WriterTest, ConstantsComeBack) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, std::int64_t{-1}, std::int64_t{INT32_MAX},
        std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX} + 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(written([&](Writer& writer) { writer.integer(number); }).root().integer(), number);
  }
  EXPECT_EQ(written([](Writer& writer) { writer.real(-0.1); }).root().real(), -0.1);
  EXPECT_EQ(written([](Writer& writer) { writer.boolean(true); }).root().boolean(), true);
  EXPECT_TRUE(written([](Writer& writer) { writer.none(); }).root().is_none());
  EXPECT_EQ(written([](Writer& writer) { writer.text("é"); }).root().text(), "é");
}

TEST(WriterTest, TextsAreWrittenOnce) {
  const auto write = [](Writer& writer) {
    writer.begin_tuple();
    for (int i = 0; i < 600; ++i) writer.text("text " + std::to_string(i % 300));
    writer.end_tuple();
  };
  const Document pickle = written(write);
  ASSERT_EQ(pickle.root().size(), 600U);
  EXPECT_EQ(pickle.root().item(299).text(), "text 299");
  EXPECT_EQ(pickle.root().item(599).text(), "text 299");
  Writer writer;
  write(writer);
  const std::string bytes = writer.finish();
  EXPECT_EQ(bytes.find("text 299"), bytes.rfind("text 299"));
}

TEST(WriterTest, ObjectsAndCalls) {
  const Document pickle = written([](Writer& writer) {
    writer.begin_list();
    writer.name("a.b.C");
    writer.begin_object();
    writer.text("size");
    writer.name("torch.Size");
    writer.begin_tuple();
    writer.begin_tuple();
    writer.integer(2);
    writer.integer(3);
    writer.end_tuple();
    writer.end_tuple();
    writer.call();
    writer.end_object();
    writer.name("a.b.C");
    writer.object();
    writer.name("torch.float32");
    writer.integer(4);
    writer.persistent();
    writer.begin_dict();
    writer.end_dict();
    writer.end_list();
  });
  const Value root = pickle.root();
  ASSERT_EQ(root.size(), 5U);
  EXPECT_EQ(root.item(0).name(), "a.b.C");
  EXPECT_EQ(root.item(0).field("size")->argument()->item(0).item(1).integer(), 3);
  EXPECT_FALSE(root.item(1).state());
  EXPECT_EQ(root.item(2).name(), "torch.float32");
  EXPECT_EQ(root.item(3).argument()->integer(), 4);
  EXPECT_EQ(root.item(4).kind(), Kind::dict);
}

}  // namespace
}  // namespace titan::pickle
