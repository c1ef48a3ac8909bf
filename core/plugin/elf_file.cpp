#include "core/plugin/elf_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "core/plugin/elf_image.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

constexpr std::uint64_t kMaxNotes = 1U << 16U;
constexpr std::uint64_t kMaxDynamic = 1U << 16U;
constexpr std::uint64_t kMaxTable = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMaxNames = std::uint64_t{64} << 20U;

using Dynamic = std::multimap<std::int64_t, std::uint64_t>;

[[noreturn]] void damaged(const char* what) {
  throw LoadProblem(Exit::abi, concat("the file is damaged: ", what), "build or copy the plugin again");
}

template <class T>
T load(const std::string& bytes, std::uint64_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

std::optional<titan_plugin_note> find_note(const std::string& notes, std::uint64_t alignment) {
  const auto padded = [&](std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
  std::uint64_t at = 0;
  while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
    const auto header = load<Elf64_Nhdr>(notes, at);
    const std::uint64_t left = notes.size() - at - sizeof header;
    const std::uint64_t name = padded(header.n_namesz);
    const std::uint64_t text = padded(header.n_descsz);
    if (name > left || text > left - name) return std::nullopt;
    const bool ours = header.n_type == 1 && header.n_namesz == 6 && header.n_descsz == 16 && alignment == 4 &&
                      notes.compare(at + sizeof header, 6, "titan", 6) == 0;
    if (ours) return load<titan_plugin_note>(notes, at);
    at += sizeof header + name + text;
  }
  return std::nullopt;
}

std::optional<titan_plugin_note> read_note(const ElfImage& image) {
  for (const auto& segment : image.segments()) {
    if (segment.p_type != PT_NOTE) continue;
    const std::uint64_t alignment = segment.p_align == 8 ? 8 : 4;
    if (auto note = find_note(image.content(segment, kMaxNotes), alignment)) return note;
  }
  return std::nullopt;
}

Dynamic read_dynamic(const ElfImage& image) {
  Dynamic out;
  const Elf64_Phdr* segment = image.segment(PT_DYNAMIC);
  if (segment == nullptr) damaged("it has no dynamic section");
  const std::string bytes = image.content(*segment, kMaxDynamic);
  for (std::uint64_t at = 0; bytes.size() - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    const auto entry = load<Elf64_Dyn>(bytes, at);
    if (entry.d_tag == DT_NULL) return out;
    out.emplace(entry.d_tag, entry.d_un.d_val);
  }
  damaged("its dynamic section has no end");
}

std::uint64_t value_of(const Dynamic& dynamic, std::int64_t tag) {
  const auto found = dynamic.find(tag);
  return found == dynamic.end() ? 0 : found->second;
}

// The system's loader follows these addresses without looking.
void check_addresses(const ElfImage& image, const Dynamic& dynamic) {
  struct Table {
    std::int64_t address, size;
  };
  constexpr std::array<Table, 12> kTables = {{{DT_STRTAB, DT_STRSZ},
                                              {DT_RELA, DT_RELASZ},
                                              {DT_JMPREL, DT_PLTRELSZ},
                                              {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                              {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
                                              {DT_SYMTAB, DT_SYMENT},
                                              {DT_HASH, DT_NULL},
                                              {DT_GNU_HASH, DT_NULL},
                                              {DT_VERSYM, DT_NULL},
                                              {DT_VERNEED, DT_NULL},
                                              {DT_VERDEF, DT_NULL},
                                              {DT_PLTGOT, DT_NULL}}};
  for (const Table& table : kTables) {
    const auto found = dynamic.find(table.address);
    if (found == dynamic.end()) continue;
    if (!image.maps(found->second, value_of(dynamic, table.size)))
      damaged("a dynamic table lies outside of its segments");
  }
}

class Strings {
 public:
  Strings(const ElfImage& image, const Dynamic& dynamic) {
    const std::uint64_t size = value_of(dynamic, DT_STRSZ);
    if (size > kMaxTable) damaged("its string table is too large");
    auto bytes = image.at_address(value_of(dynamic, DT_STRTAB), size);
    if (!bytes || bytes->empty() || bytes->back() != '\0') damaged("its string table is not whole");
    bytes_ = std::move(*bytes);
  }

  std::string at(std::uint64_t offset) const {
    if (offset >= bytes_.size()) damaged("a name lies outside of its string table");
    return bytes_.c_str() + offset;
  }

 private:
  std::string bytes_;
};

// A GNU hash table does not say how many symbols there are: the last chain ends with the last symbol.
std::uint64_t count_by_gnu_hash(const ElfImage& image, std::uint64_t address) {
  struct Header {
    std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
  };
  const auto bytes = image.at_address(address, sizeof(Header));
  if (!bytes) damaged("its symbol hash table is not whole");
  const auto header = load<Header>(*bytes, 0);
  const std::uint64_t buckets_at = address + sizeof header + std::uint64_t{header.bloom_words} * 8;
  const std::uint64_t buckets_size = std::uint64_t{header.buckets} * 4;
  if (buckets_size > kMaxTable) damaged("its symbol hash table is too large");
  const auto buckets = image.at_address(buckets_at, buckets_size);
  if (!buckets) damaged("its symbol hash table is not whole");

  std::uint32_t last = 0;
  for (std::uint64_t at = 0; at < buckets->size(); at += 4) last = std::max(last, load<std::uint32_t>(*buckets, at));
  if (last < header.first_symbol) return header.first_symbol;
  const std::uint64_t chains_at = buckets_at + buckets_size;
  for (std::uint64_t symbol = last;; ++symbol) {
    const auto link = image.at_address(chains_at + (symbol - header.first_symbol) * 4, 4);
    if (!link) damaged("its symbol hash table is not whole");
    if ((load<std::uint32_t>(*link, 0) & 1U) != 0) return symbol + 1;
  }
}

std::uint64_t count_symbols(const ElfImage& image, const Dynamic& dynamic) {
  if (const std::uint64_t address = value_of(dynamic, DT_HASH)) {
    const auto header = image.at_address(address, 8);
    if (!header) damaged("its symbol hash table is not whole");
    return load<std::uint32_t>(*header, 4);
  }
  if (const std::uint64_t address = value_of(dynamic, DT_GNU_HASH)) return count_by_gnu_hash(image, address);
  return 0;
}

void read_symbols(const ElfImage& image, const Dynamic& dynamic, const Strings& strings, ElfFile& out) {
  const std::uint64_t size = count_symbols(image, dynamic) * sizeof(Elf64_Sym);
  if (size > kMaxTable) damaged("its symbol table is too large");
  const auto table = image.at_address(value_of(dynamic, DT_SYMTAB), size);
  if (!table) damaged("its symbol table is not whole");
  std::uint64_t total = 0;
  for (std::uint64_t at = sizeof(Elf64_Sym); at < size; at += sizeof(Elf64_Sym)) {
    const auto symbol = load<Elf64_Sym>(*table, at);
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (binding == STB_LOCAL) continue;
    const bool undefined = symbol.st_shndx == SHN_UNDEF;
    if (undefined ? binding == STB_WEAK : visibility != STV_DEFAULT && visibility != STV_PROTECTED) continue;
    std::string name = strings.at(symbol.st_name);
    // Many symbols may share one long name.
    if ((total += name.size()) > kMaxNames) damaged("its symbol names are too large");
    (undefined ? out.undefined : out.exported).push_back(std::move(name));
  }
}

void read_flags(const ElfImage& image, const Dynamic& dynamic, ElfFile& out) {
  if ((value_of(dynamic, DT_FLAGS_1) & DF_1_PIE) != 0) {
    throw LoadProblem(Exit::abi, "it is a program, not a shared library", "name the plugin's library file");
  }
  const Elf64_Phdr* stack = image.segment(PT_GNU_STACK);
  out.executable_stack = stack != nullptr && (stack->p_flags & PF_X) != 0;
  out.text_relocations = dynamic.contains(DT_TEXTREL) || (value_of(dynamic, DT_FLAGS) & DF_TEXTREL) != 0;
}

}  // namespace

ElfFile read_elf(const ByteSource& bytes) {
  const ElfImage image(bytes);
  ElfFile out;
  out.note = read_note(image);
  const Dynamic dynamic = read_dynamic(image);
  check_addresses(image, dynamic);
  read_flags(image, dynamic, out);

  const Strings strings(image, dynamic);
  const auto [first, last] = dynamic.equal_range(DT_NEEDED);
  for (auto entry = first; entry != last; ++entry) out.needed.push_back(strings.at(entry->second));
  if (dynamic.contains(DT_SONAME)) out.soname = strings.at(value_of(dynamic, DT_SONAME));
  const std::int64_t path = dynamic.contains(DT_RUNPATH) ? DT_RUNPATH : DT_RPATH;
  if (dynamic.contains(path)) out.run_path = strings.at(value_of(dynamic, path));
  read_symbols(image, dynamic, strings, out);
  return out;
}

ElfFile read_elf_file(const std::filesystem::path& file) { return read_elf(FileBytes(file)); }

}  // namespace titan::plugin
