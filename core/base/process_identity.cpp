#include "core/base/process_identity.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "core/base/text.hpp"

namespace titan {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The start of the machine and the space of its process numbers: where a number means something.
std::string number_space() {
  std::array<char, 128> space{};
  if (::readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0) space[0] = '\0';
  const std::string boot = content_of("/proc/sys/kernel/random/boot_id");
  return concat(boot.substr(0, boot.find('\n')), '/', space.data());
}

/// When the process began, in the kernel's ticks; empty: there is none.
std::string start_of(std::string_view number) {
  const std::string stat = content_of(concat("/proc/", number, "/stat"));
  // The name before may hold spaces and parentheses.
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  constexpr std::size_t kState = 0, kStart = 19;  // of what follows the name
  const std::vector<std::string> fields = split(std::string_view(stat).substr(std::min(stat.size(), end + 2)), ' ');
  if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X") return {};
  return fields[kStart];
}

}  // namespace

std::string process_identity() {
  const std::string number = concat(::getpid());
  return concat(number_space(), ' ', number, ' ', start_of(number));
}

bool is_of_this_machine(std::string_view identity) {
  const std::vector<std::string> parts = split(identity, ' ');
  return parts.size() == 3 && parts[0] == number_space();
}

bool has_process_ended(std::string_view identity) {
  const std::vector<std::string> parts = split(identity, ' ');
  if (!is_of_this_machine(identity) || parts[2].empty()) return false;
  return start_of(parts[1]) != parts[2];
}

}  // namespace titan
