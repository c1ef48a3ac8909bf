#include "core/plugin/elf_image.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/text.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "titan runs on x86-64 and aarch64"
#endif

constexpr std::uint64_t kMaxSegments = 256;
// Addresses of a shared library begin near zero; a larger span than this is damage.
constexpr std::uint64_t kMaxSpan = std::uint64_t{1} << 40U;

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC 64";
    default:
      return concat("ELF machine ", machine);
  }
}

template <class... Parts>
[[noreturn]] void refuse(const char* remedy, const Parts&... reason) {
  throw LoadProblem(Exit::abi, concat(reason...), remedy);
}

template <class... Parts>
[[noreturn]] void truncated(const Parts&... reason) {
  refuse("build or copy the plugin again", "the file is truncated: ", reason...);
}

template <class... Parts>
[[noreturn]] void damaged(const Parts&... reason) {
  refuse("build or copy the plugin again", "the file is damaged: ", reason...);
}

bool is_power_of_two_or_zero(std::uint64_t value) { return (value & (value - 1)) == 0; }

}  // namespace

ElfImage::ElfImage(const ByteSource& bytes) : bytes_(bytes) {
  check_header();
  read_segments();
  check_load_order();
  check_sections();
}

void ElfImage::check_header() {
  constexpr const char* kRemedy = "name a plugin library (.so) built for this machine";
  if (bytes_.size() == 0) refuse(kRemedy, "the file is empty");
  char magic[SELFMAG] = {};
  if (!bytes_.read(0, magic, std::min<std::uint64_t>(bytes_.size(), sizeof magic)) ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0) {
    refuse(kRemedy, "it is not an ELF shared library");
  }
  if (!bytes_.read(0, &header_, sizeof header_)) {
    truncated("the ELF header needs ", sizeof header_, " bytes, the file has ", bytes_.size());
  }
  if (header_.e_ident[EI_DATA] != ELFDATA2LSB) refuse(kRemedy, "it is built for a big-endian machine");
  if (header_.e_machine != kMachine) {
    refuse(kRemedy, "it is built for ", machine_name(header_.e_machine), ", this titan runs on ",
           machine_name(kMachine));
  }
  if (header_.e_ident[EI_CLASS] != ELFCLASS64) refuse(kRemedy, "it is a 32-bit library, this titan is 64-bit");
  if (header_.e_type != ET_DYN) refuse(kRemedy, "it is not a shared library: ELF type ", header_.e_type);
  if (header_.e_phentsize != sizeof(Elf64_Phdr)) damaged("size of a program header is ", header_.e_phentsize);
  if (header_.e_phnum == 0 || header_.e_phnum > kMaxSegments) damaged("number of segments is ", header_.e_phnum);
}

void ElfImage::read_segments() {
  segments_.resize(header_.e_phnum);
  if (!bytes_.read(header_.e_phoff, segments_.data(), segments_.size() * sizeof(Elf64_Phdr))) {
    truncated("the program headers at byte ", header_.e_phoff, " are not inside its ", bytes_.size(), " bytes");
  }
  for (std::size_t i = 0; i < segments_.size(); ++i) check_segment(i, segments_[i]);
}

void ElfImage::check_segment(std::size_t index, const Elf64_Phdr& segment) const {
  if (segment.p_type == PT_NULL || segment.p_type == PT_GNU_STACK) return;
  const std::uint64_t size = bytes_.size();
  if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) {
    truncated("segment ", index, " is ", segment.p_filesz, " bytes at byte ", segment.p_offset, ", the file has ",
              size);
  }
  if (segment.p_vaddr > kMaxSpan || segment.p_memsz > kMaxSpan) damaged("segment ", index, " has no usable address");
  if (segment.p_type != PT_LOAD) return;
  if (segment.p_filesz > segment.p_memsz) damaged("segment ", index, " is larger in the file than in memory");
  if (!is_power_of_two_or_zero(segment.p_align) || segment.p_align > kMaxSpan) {
    damaged("segment ", index, " has alignment ", segment.p_align);
  }
  if (segment.p_align > 1 && (segment.p_vaddr - segment.p_offset) % segment.p_align != 0) {
    damaged("segment ", index, " is not aligned");
  }
}

void ElfImage::check_load_order() const {
  std::uint64_t end = 0;
  bool any = false;
  for (const auto& segment : segments_) {
    if (segment.p_type != PT_LOAD) continue;
    if (any && segment.p_vaddr < end) damaged("its segments overlap");
    end = segment.p_vaddr + segment.p_memsz;
    any = true;
  }
  if (!any) damaged("it has no segment to load");
  for (const auto& segment : segments_) {
    const bool must_be_loaded = segment.p_type == PT_DYNAMIC || segment.p_type == PT_TLS ||
                                segment.p_type == PT_GNU_RELRO || segment.p_type == PT_PHDR;
    if (must_be_loaded && segment.p_type != PT_TLS && !maps(segment.p_vaddr, segment.p_filesz)) {
      damaged("a segment of type ", segment.p_type, " lies outside of what is loaded");
    }
  }
}

// The loader needs no sections; but a file shorter than its own section table was cut off.
void ElfImage::check_sections() const {
  if (header_.e_shoff == 0 || header_.e_shnum == 0) return;
  const std::uint64_t table = std::uint64_t{header_.e_shnum} * header_.e_shentsize;
  if (header_.e_shoff > bytes_.size() || table > bytes_.size() - header_.e_shoff) {
    truncated("the section table is ", table, " bytes at byte ", header_.e_shoff, ", the file has ", bytes_.size());
  }
}

const Elf64_Phdr* ElfImage::segment(std::uint32_t type) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const auto& s) { return s.p_type == type; });
  return found == segments_.end() ? nullptr : &*found;
}

std::string ElfImage::content(const Elf64_Phdr& segment, std::uint64_t limit) const {
  if (segment.p_filesz > limit) damaged("a segment of type ", segment.p_type, " has ", segment.p_filesz, " bytes");
  std::string out(segment.p_filesz, '\0');
  if (!bytes_.read(segment.p_offset, out.data(), out.size())) damaged("a segment cannot be read");
  return out;
}

std::uint64_t ElfImage::available(std::uint64_t address) const {
  for (const auto& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    if (address - segment.p_vaddr < segment.p_filesz) return segment.p_filesz - (address - segment.p_vaddr);
  }
  return 0;
}

std::optional<std::string> ElfImage::at_address(std::uint64_t address, std::uint64_t count) const {
  for (const auto& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const std::uint64_t skip = address - segment.p_vaddr;
    if (skip > segment.p_filesz || count > segment.p_filesz - skip) continue;
    std::string out(count, '\0');
    if (!bytes_.read(segment.p_offset + skip, out.data(), count)) return std::nullopt;
    return out;
  }
  return std::nullopt;
}

bool ElfImage::maps(std::uint64_t address, std::uint64_t count) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& segment) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) return false;
    const std::uint64_t skip = address - segment.p_vaddr;
    return skip <= segment.p_memsz && count <= segment.p_memsz - skip;
  });
}

}  // namespace titan::plugin
