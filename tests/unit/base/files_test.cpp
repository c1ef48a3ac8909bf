#include "core/base/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>

#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::Thrown;
using test::thrown_by;

unsigned mode_of(const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); }

std::size_t number_of_entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(FilesTest, ReadsWholeFiles) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\xff\n", 5);
  EXPECT_EQ(read_file(folder.write("x", bytes), 5), bytes);
  EXPECT_EQ(read_file(folder.write("empty", ""), 0), "");
}

TEST(FilesTest, ReadsFilesWhoseSizeIsUnknown) {
  // Files of /proc say that they are empty.
  EXPECT_FALSE(read_file("/proc/self/status", 1U << 20U).empty());
  EXPECT_EQ(thrown_by([] { return read_file("/proc/self/status", 10); }).exit, Exit::data);
}

TEST(FilesTest, RefusesLargeFiles) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("x", "123456");
  const Thrown thrown = thrown_by([&] { return read_file(path, 5); });
  EXPECT_EQ(thrown.exit, Exit::data);
  EXPECT_NE(thrown.message.find(path.string()), std::string::npos) << thrown.message;
  EXPECT_NE(thrown.message.find("limit 5 bytes"), std::string::npos) << thrown.message;
}

TEST(FilesTest, MissingFolderFifoAndDeviceAreNoInput) {
  const TemporaryFolder folder;
  const fs::path fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const fs::path& path : {folder / "missing", folder.path(), fifo, fs::path("/dev/zero")}) {
    const Thrown thrown = thrown_by([&] { return read_file(path, 100); });
    EXPECT_EQ(thrown.exit, Exit::no_input) << path;
    EXPECT_NE(thrown.message.find(path.string()), std::string::npos) << thrown.message;
  }
}

TEST(FilesTest, UnreadableFileIsNoInput) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TemporaryFolder folder;
  const fs::path path = folder.write("x", "secret");
  fs::permissions(path, fs::perms::none);
  EXPECT_EQ(thrown_by([&] { return read_file(path, 100); }).exit, Exit::no_input);
}

TEST(FilesTest, ReadsInPieces) {
  const TemporaryFolder folder;
  const std::string bytes((std::size_t{1} << 20U) + 17, 'y');
  std::size_t pieces = 0;
  std::string read;
  read_file_in_pieces(folder.write("x", bytes), [&](std::string_view piece) {
    ++pieces;
    read += piece;
  });
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(pieces, 2U);
}

TEST(FilesTest, WritesAndReplacesInOneStep) {
  const TemporaryFolder folder;
  const fs::path path = folder / "config.toml";
  write_file_atomically(path, "first");
  write_file_atomically(path, "second");
  EXPECT_EQ(test::content_of(path), "second");
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(number_of_entries(folder.path()), 1U) << "a temporary file is left";
}

TEST(FilesTest, ReplacesALinkInsteadOfFollowingIt) {
  const TemporaryFolder folder;
  const fs::path victim = folder.write("victim", "precious");
  fs::create_symlink(victim, folder / "config.toml");
  write_file_atomically(folder / "config.toml", "new");
  EXPECT_EQ(test::content_of(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(folder / "config.toml"));
}

TEST(FilesTest, WriteFailuresNameTheFileAndLeaveNothing) {
  const TemporaryFolder folder;
  const Thrown missing = thrown_by([&] { return write_file_atomically(folder / "none/x", "y"), 0; });
  EXPECT_EQ(missing.exit, Exit::cannot_create);
  EXPECT_NE(missing.message.find("none/x"), std::string::npos) << missing.message;

  fs::create_directory(folder / "taken");
  const Thrown taken = thrown_by([&] { return write_file_atomically(folder / "taken", "y"), 0; });
  EXPECT_EQ(taken.exit, Exit::cannot_create);
  EXPECT_EQ(number_of_entries(folder.path()), 1U) << "a temporary file is left";
}

TEST(FilesTest, CreatesFoldersForTheOwnerAlone) {
  const TemporaryFolder folder;
  const fs::path path = folder / "a/./b/../c/";
  create_folder(path);
  create_folder(path);
  EXPECT_TRUE(fs::is_directory(folder / "a/c"));
  EXPECT_EQ(mode_of(folder / "a/c"), 0700U);
}

TEST(FilesTest, FolderMayBeALinkToAFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  create_folder(folder / "link/inner");
  EXPECT_TRUE(fs::is_directory(folder / "real/inner"));
}

TEST(FilesTest, FolderCannotReplaceAFileOrADanglingLink) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "");
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  for (const fs::path& path : {file, file / "inner", folder / "dangling"}) {
    const Thrown thrown = thrown_by([&] { return create_folder(path), 0; });
    EXPECT_EQ(thrown.exit, Exit::cannot_create) << path;
    EXPECT_NE(thrown.message.find(path.string()), std::string::npos) << thrown.message;
  }
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

}  // namespace
}  // namespace titan
