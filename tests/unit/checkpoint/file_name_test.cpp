#include "core/checkpoint/file_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace titan::checkpoint {
namespace {

TEST(FileNameTest, AcceptsOnePathComponent) {
  for (const char* name : {"a", "shard-00000-of-00002.safetensors", "..a", "...", ".metadata", "\xc3\xa9"}) {
    EXPECT_TRUE(is_file_name(name)) << name;
  }
  EXPECT_TRUE(is_file_name(std::string(255, 'a')));
}

TEST(FileNameTest, RefusesWhatLeavesTheFolderOrNamesNothing) {
  for (const char* name : {"", ".", "..", "/", "a/b", "../x", "/etc/passwd", "a/", "a\nb", "\x7f"}) {
    EXPECT_FALSE(is_file_name(name)) << name;
  }
  EXPECT_FALSE(is_file_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_file_name(std::string(256, 'a')));
}

}  // namespace
}  // namespace titan::checkpoint
