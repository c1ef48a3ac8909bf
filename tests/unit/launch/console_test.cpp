#include "core/launch/console.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "core/base/file_descriptor.hpp"

namespace titan::launch {
namespace {

using testing::HasSubstr;

/// A pipe; the console writes to one end, the test reads the other.
struct Reader {
  Reader() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reading = FileDescriptor(ends[0]);
    writing = FileDescriptor(ends[1]);
    std::signal(SIGPIPE, SIG_IGN);
  }
  std::string read() {
    std::string text(1 << 20, '\0');
    const ssize_t got = ::read(reading.get(), text.data(), text.size());
    return text.substr(0, got < 0 ? 0 : static_cast<std::size_t>(got));
  }

  FileDescriptor reading;
  FileDescriptor writing;
};

TEST(Console, WritesLinesWithTheirPrefix) {
  Reader reader;
  Console console(reader.writing.get(), false);
  console.add_line("[rank3]:", "step: 1");
  console.add_line("[launch]:", "");
  EXPECT_EQ(reader.read(), "[rank3]: step: 1\n[launch]: \n");
}

TEST(Console, NothingInALineSteersTheTerminal) {
  Reader reader;
  Console console(reader.writing.get(), true);
  console.add_line("[rank0]:", "a\n[rank1]: fake\x1b[2J\x1b[32mgreen");
  const std::string text = reader.read();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.find("\x1b[2J"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[32mgreen"), std::string::npos) << "colours are wanted here: " << text;
}

TEST(Console, ColoursOnlyWhereTheyAreWanted) {
  Reader reader;
  Console console(reader.writing.get(), false);
  console.add_line("[rank0]:", "\x1b[32mgreen\x1b[0m");
  EXPECT_EQ(reader.read(), "[rank0]: green\n");
}

TEST(Console, ASlowReaderDoesNotHoldUpTheWriter) {
  Reader reader;
  Console console(reader.writing.get(), false);
  const std::string line(1000, 'x');
  for (int i = 0; i < 4000; ++i) console.add_line("[rank0]:", line);  // four times what may wait
  EXPECT_TRUE(console.is_waiting());
  EXPECT_GT(console.num_lost(), 1000U);
  EXPECT_EQ(console.failure(), 0);
  // The reader wakes up: it learns what it missed.
  std::string text = reader.read();
  console.write_some();
  console.add_line("[rank0]:", "again");
  while (console.is_waiting()) {
    text += reader.read();
    console.write_some();
  }
  text += reader.read();
  EXPECT_THAT(text, HasSubstr("lines were not shown: the reader is slow"));
  EXPECT_TRUE(text.ends_with("[rank0]: again\n"));
}

TEST(Console, WhatIsUrgentIsShownDuringAPrompt) {
  const FileDescriptor own(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(own.is_open() && ::grantpt(own.get()) == 0 && ::unlockpt(own.get()) == 0);
  const FileDescriptor terminal = open_descriptor(::ptsname(own.get()), O_RDWR | O_NOCTTY | O_NONBLOCK);
  Console console(terminal.get(), false);
  console.hold(true);
  console.add_line("[rank0]:", "can wait");
  console.add_urgent_line("[launch]:", "rank 1 is gone");
  std::string text;
  std::array<char, 4096> bytes{};
  while (text.find("gone") == std::string::npos) {
    const ssize_t got = ::read(own.get(), bytes.data(), bytes.size());
    if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  EXPECT_THAT(text, HasSubstr("\n[launch]: rank 1 is gone"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("can wait")));
}

TEST(Console, WhatIsLostDuringAPromptIsNotTheReadersDoing) {
  const FileDescriptor own(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(own.is_open() && ::grantpt(own.get()) == 0 && ::unlockpt(own.get()) == 0);
  const FileDescriptor terminal = open_descriptor(::ptsname(own.get()), O_RDWR | O_NOCTTY | O_NONBLOCK);
  Console console(terminal.get(), false);
  console.hold(true);
  const std::string line(1000, 'x');
  for (int i = 0; i < 2000; ++i) console.add_line("[rank0]:", line);
  EXPECT_GT(console.num_lost(), 0U);
  console.hold(false);
  std::string text;
  std::array<char, 65536> bytes{};
  const auto read_all = [&] {
    while (console.is_waiting()) {
      console.write_some();
      const ssize_t got = ::read(own.get(), bytes.data(), bytes.size());
      if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  };
  read_all();
  console.add_line("[rank0]:", "again");
  read_all();
  while (text.find("again") == std::string::npos) {
    const ssize_t got = ::read(own.get(), bytes.data(), bytes.size());
    if (got > 0) text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  EXPECT_THAT(text, HasSubstr("lines were not shown: too many came while a prompt had the terminal"));
}

TEST(Console, FlushGivesUpOnAReaderThatDoesNotRead) {
  Reader reader;
  Console console(reader.writing.get(), false);
  for (int i = 0; i < 200; ++i) console.add_line("[rank0]:", std::string(1000, 'x'));
  EXPECT_TRUE(console.is_waiting());
  console.flush(0.2);
  EXPECT_FALSE(console.is_waiting());
  EXPECT_EQ(console.failure(), ETIMEDOUT);
}

TEST(Console, AReaderThatLeft) {
  Reader reader;
  Console console(reader.writing.get(), false);
  reader.reading = FileDescriptor();
  for (int i = 0; i < 3; ++i) console.add_line("[rank0]:", "x");
  EXPECT_EQ(console.failure(), EPIPE);
  EXPECT_EQ(console.num_lost(), 3U);
  EXPECT_FALSE(console.is_waiting());
}

TEST(Console, AFullDevice) {
  const FileDescriptor full = open_descriptor("/dev/full", O_WRONLY);
  if (!full.is_open()) GTEST_SKIP() << "no /dev/full";
  Console console(full.get(), false);
  console.add_line("[rank0]:", "x");
  EXPECT_EQ(console.failure(), ENOSPC);
}

}  // namespace
}  // namespace titan::launch
