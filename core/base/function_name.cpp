#include "core/base/function_name.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/file_descriptor.hpp"
#include "core/base/text.hpp"

namespace titan {
namespace {

/// A library's file in memory. What it says of itself is not trusted: offsets are checked.
class ElfSymbols {
 public:
  explicit ElfSymbols(const char* path) {
    const FileDescriptor file(::open(path, O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0 || status.st_size <= 0) return;
    void* const memory =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory == MAP_FAILED) return;
    size_ = static_cast<std::size_t>(status.st_size);
    bytes_ = static_cast<const char*>(memory);
  }
  ~ElfSymbols() {
    if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
  }
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  /// The mangled name of the function at an offset from where the library was loaded; null: not known.
  const char* function_at(std::uint64_t offset) const {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return nullptr;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section || section->sh_type != SHT_SYMTAB) continue;
      const auto names = at<Elf64_Shdr>(header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
      return names ? find(*section, *names, offset) : nullptr;
    }
    return nullptr;
  }

 private:
  template <class Part>
  std::optional<Part> at(std::uint64_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(Part)) return std::nullopt;
    Part part;
    std::memcpy(&part, bytes_ + offset, sizeof part);
    return part;
  }

  const char* find(const Elf64_Shdr& symbols, const Elf64_Shdr& names, std::uint64_t offset) const {
    for (std::uint64_t i = 0; i < symbols.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(symbols.sh_offset + i * sizeof(Elf64_Sym));
      if (!symbol) return nullptr;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || offset < symbol->st_value) continue;
      if (offset - symbol->st_value >= symbol->st_size) continue;
      const std::uint64_t name = names.sh_offset + symbol->st_name;
      const bool ends = name < size_ && std::memchr(bytes_ + name, '\0', size_ - name) != nullptr;
      return ends ? bytes_ + name : nullptr;
    }
    return nullptr;
  }

  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 20> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr};
}

void remove_all(std::string& text, std::string_view part) {
  for (std::size_t found = text.find(part); found != std::string::npos; found = text.find(part)) {
    text.erase(found, part.size());
  }
}

}  // namespace

std::string bare_function_name(const std::string& whole) {
  // What the compiler made of it: " [clone .constprop.0]".
  std::string text = whole.substr(0, whole.find(" [clone"));
  remove_all(text, "(anonymous namespace)::");
  remove_all(text, "[abi:cxx11]");
  std::string bare;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // The names of operators hold brackets of their own.
    const bool is_operator = depth == 0 && text.compare(i, 8, "operator") == 0;
    if (is_operator) {
      const std::size_t end = text.find('(', i + (text.compare(i + 8, 2, "()") == 0 ? 10 : 8));
      bare += text.substr(i, end - i);
      if (end == std::string::npos) break;
      i = end;
    }
    if (text[i] == '<' || text[i] == '(') ++depth;
    if (depth == 0) bare += text[i];
    if ((text[i] == '>' || text[i] == ')') && depth > 0) --depth;
  }
  remove_all(bare, " const");
  const std::size_t name = bare.find("operator") == std::string::npos ? bare.rfind(' ') : std::string::npos;
  return name == std::string::npos ? bare : bare.substr(name + 1);
}

FunctionName function_at(const void* address) {
  Dl_info info{};
  void* extra = nullptr;
  if (::dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0)
    return {concat("0x", hexadecimal(reinterpret_cast<std::uintptr_t>(address))), ""};
  const auto* const map = static_cast<const link_map*>(extra);
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(address) - map->l_addr;
  // The program's own name may be relative to a folder that was left.
  const bool is_program = map->l_name == nullptr || *map->l_name == '\0';
  const char* const path = is_program ? "/proc/self/exe" : map->l_name;
  std::error_code ignored;
  const std::filesystem::path file =
      is_program ? std::filesystem::read_symlink(path, ignored) : std::filesystem::path(path);
  FunctionName found{{}, file.filename().native()};
  if (info.dli_sname != nullptr) {
    found.function = bare_function_name(demangled(info.dli_sname));
    return found;
  }
  const ElfSymbols symbols(path);
  const char* const name = symbols.function_at(offset);
  found.function = name == nullptr ? concat("+0x", hexadecimal(offset)) : bare_function_name(demangled(name));
  return found;
}

}  // namespace titan
