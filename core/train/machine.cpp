#include "core/train/machine.hpp"

#include <sys/sysinfo.h>

#include "core/base/error.hpp"
#include "core/base/files.hpp"

namespace titan::train {
namespace {

constexpr std::uint64_t kMaxCpuinfo = 64U << 20U;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

std::string processor_name(std::string_view cpuinfo) {
  const auto key = cpuinfo.find("model name");
  if (key == std::string_view::npos) return "CPU";
  const std::string_view line = cpuinfo.substr(key, cpuinfo.find('\n', key) - key);
  const auto colon = line.find(':');
  const std::string_view name = colon == std::string_view::npos ? "" : trimmed(line.substr(colon + 1));
  return name.empty() ? "CPU" : printable(name);
}

std::string processor_name() {
  try {
    return processor_name(read_file("/proc/cpuinfo", kMaxCpuinfo));
  } catch (const Error&) {
    return "CPU";  // a machine without the file still trains
  }
}

std::int64_t memory_capacity() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return 0;
  return static_cast<std::int64_t>(info.totalram) * static_cast<std::int64_t>(info.mem_unit);
}

}  // namespace titan::train
