#include "core/plugin/check.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/base/text.hpp"
#include "core/config/registry.hpp"
#include "core/plugin/describe.hpp"
#include "core/plugin/elf_file.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/loader.hpp"
#include "core/plugin/manifest.hpp"
#include "core/plugin/registry.hpp"

namespace titan::plugin {
namespace {

namespace fs = std::filesystem;

template <class... Parts>
[[noreturn]] void fail(const Parts&... detail) {
  throw PluginError(detail...);
}

bool is_torch_library(const std::string& name) {
  return name.starts_with("libtorch") || name.starts_with("libc10") || name.starts_with("libcaffe2");
}

// Mangled names of at::, c10::, torch:: and caffe2::, also inside other names.
bool is_torch_symbol(const std::string& name) {
  constexpr std::array<std::string_view, 4> kNamespaces = {"N2at", "N3c10", "N5torch", "N6caffe2"};
  return std::any_of(kNamespaces.begin(), kNamespaces.end(), [&](auto part) { return name.find(part) != name.npos; });
}

void check_exports(const ElfFile& elf) {
  if (elf.exported == std::vector<std::string>{TITAN_PLUGIN_QUERY_SYMBOL}) return;
  fail("it exports ", elf.exported.size(), " symbols: ", shortened(join(elf.exported, ", "), 400));
}

void check_tier(const ElfFile& elf) {
  if (elf.note && elf.note->tier == TITAN_TIER_TORCH) return;
  const auto library = std::find_if(elf.needed.begin(), elf.needed.end(), is_torch_library);
  if (library != elf.needed.end()) fail("a stable-tier plugin links ", *library);
  const auto symbol = std::find_if(elf.undefined.begin(), elf.undefined.end(), is_torch_symbol);
  if (symbol != elf.undefined.end()) fail("a stable-tier plugin expects ", *symbol);
}

void check_protection(const ElfFile& elf) {
  if (elf.executable_stack) fail("it asks for an executable stack");
  if (elf.text_relocations) fail("it has text relocations: compile it with -fPIC");
}

void check_note(const ElfFile& elf, const Facts& facts) {
  if (!elf.note) fail("it has no note");
  if (elf.note->abi_major != facts.abi.major || elf.note->abi_minor != facts.abi.minor ||
      elf.note->abi_minor_needed != facts.abi.minor_needed || elf.note->tier != facts.abi.tier) {
    fail("note: ABI ", elf.note->abi_major, ".", elf.note->abi_minor, ", needs minor ", elf.note->abi_minor_needed,
         ", tier ", elf.note->tier, "; info block: ABI ", facts.abi.major, ".", facts.abi.minor, ", needs minor ",
         facts.abi.minor_needed, ", tier ", facts.abi.tier);
  }
}

void check_manifest(const fs::path& file, const Facts& facts) {
  const fs::path path = manifest_path(file);
  const Manifest manifest = read_manifest(path);
  if (!describes(manifest, file)) fail("the library changed after its manifest was written: ", path.string());
  if (facts_to_json(manifest.facts) != facts_to_json(facts)) {
    fail("it says something else than describe: ", path.string());
  }
}

class Checker {
 public:
  Checker(fs::path file, Search search, LibrarySource& libraries)
      : file_(std::move(file)), search_(std::move(search)), libraries_(libraries) {}

  CheckReport run() {
    if (check_file() && check_opened()) check_configuration();
    return std::move(report_);
  }

 private:
  /// Notes one rule; `body` throws where it does not hold.
  template <class Body>
  bool rule(const char* name, Body&& body) {
    std::string detail;
    try {
      body();
    } catch (const LoadProblem& problem) {
      detail = concat(problem.what(), "; ", problem.remedy());
    } catch (const Error& error) {
      detail = error.what();
    }
    report_.lines.push_back({detail.empty(), name, detail});
    return detail.empty();
  }

  bool check_file() {
    ElfFile& elf = elf_;
    if (!rule("is a whole ELF library for this machine", [&] { elf = read_elf_file(file_); })) return false;
    rule("exports " TITAN_PLUGIN_QUERY_SYMBOL " and nothing else", [&] { check_exports(elf); });
    rule("uses libtorch in the torch tier alone", [&] { check_tier(elf); });
    rule("keeps code and data apart", [&] { check_protection(elf); });
    return true;
  }

  bool check_opened() {
    Opened opened{};
    if (!rule("opens, and fits this titan", [&] { opened = open_plugin(file_, libraries_); })) return false;
    rule("has an ABI note equal to its info block", [&] { check_note(elf_, opened.identity); });
    const auto describe_again = [&] { return describe(*opened.info, opened.identity); };
    if (!rule("describes itself", [&] { facts_ = describe_again(); })) return false;
    rule("describes itself twice the same", [&] {
      if (facts_to_json(describe_again()) != facts_to_json(facts_)) fail("the second description differs");
    });
    std::error_code error;
    if (fs::exists(manifest_path(file_), error)) {
      rule("has a manifest that is true", [&] { check_manifest(file_, facts_); });
    }
    return true;
  }

  void check_configuration() {
    config::Registry registry;
    const bool declared = rule("declares options that are free and valid", [&] {
      config::add_core_options(registry);
      search_.files = {file_};
      search_.module.clear();
      PluginRegistry(search_, libraries_).register_options(registry);
    });
    if (declared) rule("has presets that resolve", [&] { registry.check(); });
  }

  const fs::path file_;
  Search search_;
  LibrarySource& libraries_;
  CheckReport report_;
  ElfFile elf_;
  Facts facts_;
};

}  // namespace

bool CheckReport::passed() const {
  return std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.passed; });
}

CheckReport check(const fs::path& file, Search search, LibrarySource& libraries) {
  return Checker(file, std::move(search), libraries).run();
}

std::string check_text(const CheckReport& report) {
  std::string out;
  for (const auto& line : report.lines) {
    out += concat(line.passed ? "ok      " : "FAILED  ", line.rule);
    out += line.detail.empty() ? "\n" : concat(": ", line.detail, "\n");
  }
  return out + (report.passed() ? "the plugin is fine\n" : "the plugin breaks the contract\n");
}

}  // namespace titan::plugin
