#include "core/checkpoint/dcp/archive_writer.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/checkpoint/dcp/archive_reader.hpp"
#include "tests/unit/checkpoint/dcp/text_bytes.hpp"

namespace titan::checkpoint {
namespace {

TEST(ArchiveWriterTest, ContentBeginsAtMultiplesOf64) {
  ArchiveWriter writer;
  std::string name;
  for (int i = 0; i < 64; ++i) {
    name += 'n';
    writer.add(name, name);
  }
  writer.finish();
  const std::string archive = writer.take();
  EXPECT_EQ(archive.size(), writer.size());
  const ArchiveReader reader(testing::bytes_of(archive), "written");
  for (std::size_t size = 1; size <= 64; ++size) {
    EXPECT_EQ(reader.find(name.substr(0, size)).begin % 64, 0U);
    EXPECT_EQ(reader.read(name.substr(0, size), 64), name.substr(0, size));
  }
}

TEST(ArchiveWriterTest, TheCallerMayWriteTheContent) {
  const std::string content(1000, 'c');
  ArchiveWriter writer;
  writer.add("data.pkl", "p");
  writer.begin("data/0", content.size());
  const std::string head = writer.take();
  EXPECT_EQ(head.size() % 64, 0U);
  writer.end(static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()))));
  writer.add("version", "3\n");
  writer.finish();
  const ArchiveReader reader(testing::bytes_of(head + content + writer.take()), "written");
  EXPECT_EQ(reader.read("data/0", 1000), content);
  EXPECT_EQ(reader.read("version", 10), "3\n");
}

}  // namespace
}  // namespace titan::checkpoint
