#include "core/checkpoint/dcp/archive_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/archive_writer.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/dcp/text_bytes.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using titan::testing::error_text;

std::string made_archive() {
  ArchiveWriter writer;
  writer.add("data.pkl", "pickle");
  writer.add("data/0", std::string(100, 'x'));
  writer.finish();
  return writer.take();
}

std::string error_of(const std::string& archive) {
  return error_text<DataError>([&] {
    const ArchiveReader reader(bytes_of(archive), "there: item");
    reader.read("data.pkl", 1000);
    reader.read("data/0", 1000);
  });
}

std::string number(std::uint64_t value, unsigned width) {
  std::string bytes;
  for (unsigned i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xffU);
  return bytes;
}

/// The archive with other bytes somewhere, counted from the first directory entry.
std::string changed(std::size_t at, const std::string& bytes) {
  std::string archive = made_archive();
  return archive.replace(archive.find("PK\x01\x02") + at, bytes.size(), bytes);
}

/// The archive with other bytes in what ends it.
std::string changed_end(std::size_t at, const std::string& bytes) {
  std::string archive = made_archive();
  return archive.replace(archive.size() - 22 + at, bytes.size(), bytes);
}

TEST(ArchiveReaderTest, FindsRecords) {
  const ArchiveReader reader(bytes_of(made_archive()), "x");
  EXPECT_TRUE(reader.has("data.pkl"));
  EXPECT_FALSE(reader.has("data"));
  EXPECT_EQ(reader.read("data.pkl", 6), "pickle");
  EXPECT_EQ(reader.find("data/0").begin, 192U);
  EXPECT_EQ(reader.find("data/0").size, 100U);
}

TEST(ArchiveReaderTest, ReadsTheEndOfLargeArchives) {
  std::string archive = made_archive();
  const std::string end = archive.substr(archive.size() - 22);
  const std::uint64_t end_at = archive.size() - 22, directory = archive.find("PK\x01\x02");
  archive.resize(end_at);
  archive += "PK\x06\x06" + number(44, 8) + number(0, 12) + number(2, 8) + number(2, 8) +
             number(end_at - directory, 8) + number(directory, 8);
  archive += "PK\x06\x07" + number(0, 4) + number(end_at, 8) + number(1, 4);
  const std::string large_end = "PK\x05\x06" + number(0, 4) + number(0xffff, 2) + number(0xffff, 2) +
                                number(0xffffffff, 4) + number(0xffffffff, 4) + number(0, 2);
  EXPECT_EQ(ArchiveReader(bytes_of(archive + large_end), "x").read("data.pkl", 6), "pickle");
  std::string damaged = archive + large_end;
  damaged[end_at + 1] = 'Q';
  EXPECT_THAT(error_of(damaged), HasSubstr("its end of large archives is damaged"));
  EXPECT_THAT(error_of(large_end), HasSubstr("it lacks the end of large archives"));
}

TEST(ArchiveReaderTest, ReadsLargeNumbers) {
  // Size, stored size and place of the first record in an extra field, as zip64 has them, behind a foreign one.
  std::string archive = made_archive();
  const std::size_t entry = archive.find("PK\x01\x02");
  const std::string extra =
      "ZZ" + number(2, 2) + "??" + number(1, 2) + number(24, 2) + number(6, 8) + number(6, 8) + number(0, 8);
  archive.replace(entry + 20, 8, number(0xffffffff, 4) + number(0xffffffff, 4));
  archive.replace(entry + 42, 4, number(0xffffffff, 4));
  archive.replace(entry + 30, 2, number(extra.size(), 2));
  archive.insert(entry + 46 + std::string("archive/data.pkl").size(), extra);
  archive.replace(archive.size() - 10, 4, number(archive.size() - 22 - entry, 4));
  EXPECT_EQ(ArchiveReader(bytes_of(archive), "x").read("data.pkl", 6), "pickle");
  archive.replace(archive.find("ZZ", entry), 2, number(1, 2));
  EXPECT_THAT(error_of(archive), HasSubstr("a record lacks its large numbers: archive/data.pkl"));
}

TEST(ArchiveReaderTest, RefusesOtherArchives) {
  EXPECT_THAT(error_of(""), AllOf(HasSubstr("there: item"), HasSubstr("it is too short")));
  EXPECT_THAT(error_of(made_archive() + "x"), HasSubstr("it does not end as a zip archive"));
  EXPECT_THAT(error_of(changed_end(20, number(1, 2))), HasSubstr("it does not end as a zip archive"));
  EXPECT_THAT(error_of(changed_end(4, number(1, 2))), HasSubstr("it has several volumes"));
  EXPECT_THAT(error_of(changed_end(10, number(60000, 2))), HasSubstr("it has too many records: 60000"));
  EXPECT_THAT(error_of(changed_end(10, number(1, 2))), HasSubstr("its directory has another length"));
  EXPECT_THAT(error_of(changed_end(10, number(3, 2))), HasSubstr("its directory is damaged"));
  EXPECT_THAT(error_of(changed_end(16, number(0xfffffff0, 4))), HasSubstr("its directory leaves it"));
  EXPECT_THAT(error_of(changed_end(12, number(60000, 4))), HasSubstr("its directory leaves it"));
}

TEST(ArchiveReaderTest, RefusesOtherRecords) {
  EXPECT_THAT(error_of(changed(10, number(8, 2))), HasSubstr("a record is compressed: archive/data.pkl"));
  EXPECT_THAT(error_of(changed(8, number(1, 2))), HasSubstr("a record is encrypted: archive/data.pkl"));
  EXPECT_THAT(error_of(changed(20, number(5, 4))), HasSubstr("a record is compressed"));
  EXPECT_THAT(error_of(changed(28, number(60000, 2))), HasSubstr("its directory is damaged"));
  EXPECT_THAT(error_of(changed(46, "brchive/")), HasSubstr("records are in different folders"));
  EXPECT_THAT(error_of(changed(46, "archive_")), HasSubstr("a record is in no folder"));
  EXPECT_THAT(error_of(changed(42, number(1, 4))), HasSubstr("a record is not where the directory says: data.pkl"));
  EXPECT_THAT(error_of(changed(42, number(100000, 4))), HasSubstr("a record leaves it: data.pkl"));
  EXPECT_THAT(error_of(changed(20, number(100000, 4) + number(100000, 4))), HasSubstr("a record leaves it: data.pkl"));
  std::string archive = made_archive();
  archive[64] = 'P';
  EXPECT_THAT(error_of(archive), HasSubstr("a record is damaged: data.pkl"));
  const ArchiveReader reader(bytes_of(made_archive()), "x");
  EXPECT_THAT(error_text<DataError>([&] { reader.read("data/0", 99); }), HasSubstr("too long: data/0: 100 bytes"));
  EXPECT_THAT(error_text<DataError>([&] { reader.find("data/1"); }), HasSubstr("it lacks a record: data/1"));
}

TEST(ArchiveReaderTest, RefusesANameTwice) {
  ArchiveWriter writer;
  writer.add("data.pkl", "a");
  writer.add("data.pkl", "b");
  writer.finish();
  EXPECT_THAT(error_of(writer.take()), HasSubstr("a record is there twice: archive/data.pkl"));
}

TEST(ArchiveReaderTest, SurvivesEveryCutAndFlippedBit) {
  const std::string whole = made_archive();
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
    try {
      const ArchiveReader reader(bytes_of(flipped), "x");
      reader.read("data.pkl", 1000);
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace titan::checkpoint
