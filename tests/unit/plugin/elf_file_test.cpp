#include "core/plugin/elf_file.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/files.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kHuge = ~std::uint64_t{0} - 8;

const std::string& plugin_bytes() {
  static const std::string bytes = read_file(TITAN_TEST_PLUGIN, std::uint64_t{1} << 24U);
  return bytes;
}

/// The reason a file of these bytes is refused; empty when it is accepted.
std::string refusal(const std::string& bytes) {
  try {
    read_elf(MemoryBytes(bytes));
    return {};
  } catch (const LoadProblem& problem) {
    EXPECT_EQ(problem.exit(), Exit::abi);
    EXPECT_FALSE(problem.remedy().empty());
    return problem.what();
  }
}

template <class Change>
std::string refusal_of_header(Change change) {
  std::string bytes = plugin_bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  change(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return refusal(bytes);
}

/// Applies `change` to every segment of a type.
template <class Change>
std::string refusal_of_segment(std::uint32_t type, Change change) {
  std::string bytes = plugin_bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    char* at = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, at, sizeof segment);
    if (segment.p_type != type) continue;
    change(segment);
    std::memcpy(at, &segment, sizeof segment);
  }
  return refusal(bytes);
}

TEST(ElfFile, ReadsARealPlugin) {
  const ElfFile elf = read_elf_file(TITAN_TEST_PLUGIN);
  ASSERT_TRUE(elf.note.has_value());
  EXPECT_EQ(elf.note->abi_major, static_cast<std::uint32_t>(TITAN_ABI_MAJOR));
  EXPECT_EQ(elf.note->abi_minor, static_cast<std::uint32_t>(TITAN_ABI_MINOR));
  EXPECT_EQ(elf.note->abi_minor_needed, 1U);
  EXPECT_EQ(elf.note->tier, TITAN_TIER_STABLE);
  EXPECT_THAT(elf.exported, ElementsAre("titan_plugin_query_v1"));
  EXPECT_THAT(elf.needed, Contains("libc.so.6"));
  EXPECT_THAT(elf.undefined, Contains("snprintf"));
  EXPECT_FALSE(elf.executable_stack);
  EXPECT_FALSE(elf.text_relocations);
}

TEST(ElfFile, RefusesWhatIsNotElf) {
  EXPECT_THAT(refusal(""), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal("\x7f"), HasSubstr("not an ELF shared library"));
  EXPECT_THAT(refusal("#!/bin/sh\necho a text file that is long enough to hold a whole ELF header\n"),
              HasSubstr("not an ELF shared library"));
}

TEST(ElfFile, RefusesForeignFiles) {
  EXPECT_THAT(refusal_of_header([](auto& h) { h.e_machine = EM_S390; }), HasSubstr("built for ELF machine 22"));
  EXPECT_THAT(refusal_of_header([](auto& h) { h.e_machine = h.e_machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64; }),
              HasSubstr(", this titan runs on "));
  EXPECT_THAT(refusal_of_header([](auto& h) { h.e_ident[EI_CLASS] = ELFCLASS32; }), HasSubstr("32-bit"));
  EXPECT_THAT(refusal_of_header([](auto& h) { h.e_ident[EI_DATA] = ELFDATA2MSB; }), HasSubstr("big-endian"));
  EXPECT_THAT(refusal_of_header([](auto& h) { h.e_type = ET_REL; }), HasSubstr("not a shared library: ELF type 1"));
  EXPECT_THAT(refusal_of_header([](auto& h) { h.e_type = ET_EXEC; }), HasSubstr("not a shared library: ELF type 2"));
}

TEST(ElfFile, RefusesAProgram) {
  try {
    read_elf_file("/proc/self/exe");
    FAIL() << "a program was taken for a plugin";
  } catch (const LoadProblem& problem) {
    EXPECT_THAT(problem.what(), testing::AnyOf(HasSubstr("a program"), HasSubstr("ELF type 2")));
  }
}

TEST(ElfFile, RefusesEveryTruncation) {
  const std::string& whole = plugin_bytes();
  for (std::size_t size = 64; size < whole.size(); size += 64) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("truncated")) << "cut at byte " << size;
  }
  EXPECT_THAT(refusal(whole.substr(0, 40)), HasSubstr("truncated: the ELF header needs 64 bytes, the file has 40"));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1)), HasSubstr("truncated"));
}

TEST(ElfFile, NamesTheTruncatedSegment) {
  const std::string& whole = plugin_bytes();
  EXPECT_THAT(refusal(whole.substr(0, 4096)),
              testing::MatchesRegex(".*segment [0-9]+ is [0-9]+ bytes at byte [0-9]+, the file has 4096"));
}

TEST(ElfFile, RefusesDamagedSegments) {
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_offset = kHuge; }), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_filesz = kHuge; }), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_vaddr = kHuge; }), HasSubstr("no usable address"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_memsz = 0; }), HasSubstr("larger in the file"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_align = 3; }), HasSubstr("alignment 3"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_vaddr += 8; }), HasSubstr("not aligned"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_vaddr %= 0x1000; }), HasSubstr("overlap"));
  EXPECT_THAT(refusal_of_segment(PT_LOAD, [](auto& s) { s.p_type = PT_NULL; }), HasSubstr("no segment to load"));
  EXPECT_THAT(refusal_of_segment(PT_DYNAMIC, [](auto& s) { s.p_vaddr = 0x7fff0000; }), HasSubstr("outside"));
  EXPECT_THAT(refusal_of_segment(PT_DYNAMIC, [](auto& s) { s.p_type = PT_NULL; }), HasSubstr("no dynamic section"));
  EXPECT_THAT(refusal_of_segment(PT_DYNAMIC, [](auto& s) { s.p_filesz = 16; }), HasSubstr("has no end"));
}

TEST(ElfFile, ANoteOfAnotherOwnerIsNoNote) {
  std::string bytes = plugin_bytes();
  const std::size_t at = bytes.find(std::string("titan\0\0\0", 8));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 5, "nobod");
  EXPECT_FALSE(read_elf(MemoryBytes(bytes)).note.has_value());
}

TEST(ElfFile, SurvivesEverySingleByteOfItsTablesFlipped) {
  // Header, program headers, notes, hash and symbol tables lie in the first segment, the dynamic section further back.
  std::string bytes = plugin_bytes();
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char original = bytes[at];
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      bytes[at] = static_cast<char>(original ^ flip);
      accepted += refusal(bytes).empty() ? 1 : 0;
    }
    bytes[at] = original;
  }
  EXPECT_GT(accepted, 0U);  // code bytes do not matter here
}

TEST(ElfFile, SurvivesOverwrittenRanges) {
  for (const char fill : {'\x00', '\xff', '\x7f'}) {
    for (std::size_t begin = 0; begin + 32 <= plugin_bytes().size(); begin += 16) {
      std::string bytes = plugin_bytes();
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), 32, fill);
      refusal(bytes);
    }
  }
}

TEST(ElfFile, SaysWhyAFileCannotBeRead) {
  const auto reason = [](const char* path) {
    try {
      read_elf_file(path);
      return std::string();
    } catch (const LoadProblem& problem) {
      EXPECT_EQ(problem.exit(), Exit::no_input);
      return std::string(problem.what());
    }
  };
  EXPECT_THAT(reason("/nonexistent/x.so"), HasSubstr("no such file"));
  EXPECT_THAT(reason("/"), HasSubstr("a folder"));
  EXPECT_THAT(reason("/dev/null"), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace titan::plugin
