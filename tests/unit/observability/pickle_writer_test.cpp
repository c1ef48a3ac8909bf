#include "plugins/observability/pickle_writer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>
#include <system_error>

#include "core/base/files.hpp"
#include "core/pickle/document.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::observability {
namespace {

class PickleWriterTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "dump_3"; }
  pickle::Document written() const { return pickle::Document::read(read_file(path(), 1U << 24U), {}, "dump_3"); }
  std::size_t num_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  test::TemporaryFolder folder_;
};

TEST_F(PickleWriterTest, WritesValuesOfAllKinds) {
  PickleWriter writer(path());
  writer.begin_dict();
  writer.entry("text", "value");
  writer.entry("yes", true);
  writer.entry("no", false);
  writer.entry("real", -0.375);
  writer.text("nothing");
  writer.none();
  writer.text("list");
  writer.begin_list();
  writer.begin_tuple();
  writer.integer(1);
  writer.text("value");
  writer.end_tuple();
  writer.begin_list();
  writer.end_list();
  writer.begin_dict();
  writer.end_dict();
  writer.end_list();
  writer.end_dict();
  writer.finish();

  const pickle::Document document = written();
  const pickle::Value root = document.root();
  EXPECT_EQ(root.field("text")->text(), "value");
  EXPECT_EQ(root.field("yes")->boolean(), true);
  EXPECT_EQ(root.field("no")->boolean(), false);
  EXPECT_EQ(root.field("real")->real(), -0.375);
  EXPECT_TRUE(root.field("nothing")->is_none());
  const pickle::Value list = *root.field("list");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list.item(0).kind(), pickle::Kind::tuple);
  EXPECT_EQ(list.item(0).item(1).text(), "value");
  EXPECT_EQ(list.item(1).kind(), pickle::Kind::list);
  EXPECT_EQ(list.item(1).size(), 0U);
  EXPECT_EQ(list.item(2).kind(), pickle::Kind::dict);
}

TEST_F(PickleWriterTest, WritesIntegersOfEveryWidth) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::vector<std::int64_t> values = {0,           1,           255,           256,          65535,
                                            65536,       2147483647,  2147483648,    -1,           -256,
                                            -2147483648, -2147483649, Limits::max(), Limits::min()};
  PickleWriter writer(path());
  writer.begin_list();
  for (const std::int64_t value : values) writer.integer(value);
  writer.end_list();
  writer.finish();
  const pickle::Document document = written();
  ASSERT_EQ(document.root().size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(document.root().item(i).integer(), values[i]);
}

TEST_F(PickleWriterTest, WritesATextOnceAndRecallsIt) {
  const std::string name = "layers.0.attention.wq";
  PickleWriter writer(path());
  writer.begin_list();
  for (int i = 0; i < 1000; ++i) {
    writer.text(name);
    writer.text(std::to_string(i % 300));  // more than one byte numbers
  }
  writer.end_list();
  writer.finish();
  const std::string bytes = read_file(path(), 1U << 24U);
  EXPECT_EQ(bytes.find(name), bytes.rfind(name));
  const pickle::Document document = written();
  ASSERT_EQ(document.root().size(), 2000U);
  EXPECT_EQ(document.root().item(1998).text(), name);
  EXPECT_EQ(document.root().item(1999).text(), "99");
}

TEST_F(PickleWriterTest, ReplacesBytesThatAreNoUtf8) {
  using namespace std::string_view_literals;
  const std::vector<std::pair<std::string_view, std::string_view>> texts = {
      {"gr\xc3\xb6\xc3\x9f"
       "e \xe2\x82\xac \xf0\x9f\x98\x80"sv,
       "gr\xc3\xb6\xc3\x9f"
       "e \xe2\x82\xac \xf0\x9f\x98\x80"sv},
      {"a\xff"
       "b\xc3"sv,
       "a?b?"sv},
      {"\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"sv, "?????????"sv},
      {""sv, ""sv}};
  PickleWriter writer(path());
  writer.begin_list();
  for (const auto& [text, expected] : texts) writer.text(text);
  writer.end_list();
  writer.finish();
  const pickle::Document document = written();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(document.root().item(i).text(), texts[i].second);
}

TEST_F(PickleWriterTest, RecallsWhatItWroteBefore) {
  PickleWriter writer(path());
  writer.begin_list();
  writer.text("a text has a number too");
  writer.begin_list();
  writer.integer(5);
  writer.end_list();
  const std::uint32_t list = writer.remember();
  for (int i = 0; i < 300; ++i) {
    writer.integer(1000 + i);
    writer.remember();
  }
  writer.recall(list);
  writer.recall(299);
  writer.text("a text has a number too");
  writer.end_list();
  writer.finish();
  const pickle::Document document = written();
  EXPECT_EQ(document.root().item(302).item(0).integer(), 5);
  EXPECT_EQ(document.root().item(303).integer(), 1297);
  EXPECT_EQ(document.root().item(304).text(), "a text has a number too");
}

TEST_F(PickleWriterTest, IsThereAsAWholeOrNotAtAll) {
  folder_.write("dump_3", "what was there before");
  {
    PickleWriter writer(path());
    writer.begin_list();
    writer.text(std::string(1'000'000, 'x'));
    EXPECT_EQ(num_files(), 2U);
  }
  EXPECT_EQ(num_files(), 1U);
  EXPECT_EQ(read_file(path(), 1000), "what was there before");
  PickleWriter writer(path());
  writer.integer(7);
  writer.finish();
  EXPECT_EQ(written().root().integer(), 7);
  EXPECT_EQ(num_files(), 1U);
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(PickleWriterTest, MakesItsFolders) {
  const std::filesystem::path deep = folder_ / "a" / "b" / "dump_0";
  PickleWriter writer(deep);
  writer.none();
  writer.finish();
  EXPECT_TRUE(std::filesystem::is_regular_file(deep));
  struct stat status {};
  ASSERT_EQ(::stat(deep.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(PickleWriterTest, NamesThePathThatCannotBeWritten) {
  const std::filesystem::path below_a_file = folder_.write("file", "x") / "dump_0";
  try {
    const PickleWriter writer(below_a_file);
    FAIL() << "was made";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(below_a_file.native()), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace titan::observability
