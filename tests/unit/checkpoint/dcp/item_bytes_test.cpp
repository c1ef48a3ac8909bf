#include "core/checkpoint/dcp/item_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

std::string numbered(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 31 % 251);
  return bytes;
}

TEST(ItemBytesTest, ReadsAnywhere) {
  const test::TemporaryFolder folder;
  const std::string content = numbered(20000);
  const InputFile file(folder.write("file", content));
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{3000}, std::uint64_t{19000}}) {
    const ItemBytes item(file, 1000, length);
    const RangeOfBytes range = item.range();
    ASSERT_EQ(range.size, length);
    for (std::uint64_t at = 0; at < length; at += 499) {
      for (std::uint64_t size = 0; size <= length - at; size = 3 * size + 1) {
        std::string bytes(size, '\0');
        range.read(at, bytes);
        EXPECT_EQ(bytes, content.substr(1000 + at, size));
      }
    }
  }
}

TEST(ItemBytesTest, RefusesItemsThatLeaveTheFile) {
  const test::TemporaryFolder folder;
  const InputFile file(folder.write("file", numbered(100)));
  for (const auto& [offset, length] : {std::pair<std::uint64_t, std::uint64_t>{101, 0}, {1, 100}, {50, ~0ULL - 10}}) {
    EXPECT_THAT(titan::testing::error_text<DataError>([&] { ItemBytes(file, offset, length); }),
                ::testing::HasSubstr("file is shorter than its items"));
  }
}

}  // namespace
}  // namespace titan::checkpoint
