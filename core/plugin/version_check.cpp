#include "core/plugin/version_check.hpp"

#include <string>

#include "core/base/text.hpp"
#include "core/plugin/abi_text.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

// The oldest minor whose structs this host still reads: while the ABI is 0.x, a changed layout raises it.
constexpr std::uint32_t kOldestMinor = 1;

// Size of the info block in the first release; later fields are read under TITAN_HAS.
constexpr std::uint32_t kFirstInfoSize = offsetof(titan_plugin_info, shutdown) + sizeof(titan_plugin_info::shutdown);
constexpr std::uint32_t kAbiFieldsEnd = offsetof(titan_plugin_info, tier);

constexpr std::uint64_t kMaxIdentityText = 256;

std::string host_abi() { return concat(TITAN_ABI_MAJOR, ".", TITAN_ABI_MINOR); }

[[noreturn]] void refuse(const std::string& reason, const std::string& remedy) {
  throw LoadProblem(Exit::abi, reason, remedy);
}

void check_version(const AbiFacts& abi) {
  const std::string rebuild = concat("rebuild the plugin with this titan's SDK (ABI ", host_abi(), ")");
  if (abi.major != TITAN_ABI_MAJOR || abi.minor < kOldestMinor) {
    refuse(concat("it was built with ABI ", abi.major, ".", abi.minor, ", this titan has ", host_abi()), rebuild);
  }
  if (abi.minor_needed > TITAN_ABI_MINOR) {
    refuse(concat("it needs ABI ", abi.major, ".", abi.minor_needed, ", this titan has ", host_abi()),
           concat("use a newer titan, or ", rebuild));
  }
}

void check_size(const titan_plugin_info& info) {
  if (info.struct_size >= kFirstInfoSize) return;
  refuse(concat("its info block is too small: ", info.struct_size, " bytes, at least ", kFirstInfoSize, " are needed"),
         "set struct_size to sizeof(titan_plugin_info), and rebuild with this titan's SDK");
}

void check_functions(const titan_plugin_info& info) {
  const char* missing = info.describe == nullptr        ? "describe"
                        : info.init == nullptr          ? "init"
                        : info.get_interface == nullptr ? "get_interface"
                        : info.shutdown == nullptr      ? "shutdown"
                                                        : nullptr;
  if (missing != nullptr)
    refuse(concat("its info block has no function ", missing), "fill all functions of the info block");
}

}  // namespace

const TorchPin& host_torch_pin() {
  static const TorchPin pin{TITAN_HOST_TORCH_VERSION, _GLIBCXX_USE_CXX11_ABI, TITAN_HOST_CUDA_MAJOR};
  return pin;
}

void check_abi(const AbiFacts& abi) {
  check_version(abi);
  if (abi.tier != TITAN_TIER_STABLE && abi.tier != TITAN_TIER_TORCH) {
    refuse(concat("its tier is unknown: ", abi.tier), "use TITAN_TIER_STABLE or TITAN_TIER_TORCH");
  }
}

void check_torch_pin(const TorchPin& plugin, const TorchPin& host) {
  if (host.version.empty())
    refuse("it links libtorch, and this titan was built without one", "use a titan with libtorch");
  const std::string rebuild = concat("rebuild the plugin against libtorch ", host.version, ", the one of this titan");
  if (plugin.version != host.version) {
    refuse(concat("torch_version differs: the plugin has ", plugin.version, ", this titan ", host.version), rebuild);
  }
  if (plugin.cxx11_abi != host.cxx11_abi) {
    refuse(concat("cxx11_abi differs: the plugin has ", plugin.cxx11_abi, ", this titan ", host.cxx11_abi), rebuild);
  }
  if (plugin.cuda_major != host.cuda_major) {
    refuse(concat("cuda_major differs: the plugin has ", plugin.cuda_major, ", this titan ", host.cuda_major), rebuild);
  }
}

Facts read_identity(const titan_plugin_info* info, const TorchPin& host) {
  if (info == nullptr) refuse(TITAN_PLUGIN_QUERY_SYMBOL " returned NULL", "return the address of a static info block");
  if (info->magic != TITAN_PLUGIN_MAGIC) {
    refuse(concat("its info block has a wrong magic number: ", info->magic), "set magic to TITAN_PLUGIN_MAGIC");
  }
  if (info->struct_size < kAbiFieldsEnd) check_size(*info);
  const AbiFacts abi{info->abi_major, info->abi_minor, info->abi_minor_needed, 0};
  check_version(abi);
  check_size(*info);

  Facts facts;
  facts.abi = abi;
  facts.abi.tier = info->tier;
  check_abi(facts.abi);
  check_functions(*info);
  if (info->tier == TITAN_TIER_TORCH) {
    facts.torch = {copy_text(info->torch_version, "torch_version", kMaxIdentityText), info->cxx11_abi,
                   info->cuda_major};
    check_torch_pin(facts.torch, host);
  }
  facts.id = copy_text(info->id, "id", kMaxIdentityText);
  facts.name = copy_text(info->name, "name", kMaxIdentityText);
  facts.version = copy_text(info->version, "version", kMaxIdentityText);
  facts.license = copy_text(info->license, "license", kMaxIdentityText);
  return facts;
}

}  // namespace titan::plugin
