#include "core/rehearsal/hardware.hpp"

namespace titan::rehearsal {

std::vector<std::string> known_hardware() { return {"h100", "h200"}; }

Hardware find_hardware(std::string_view name_or_path) { return read_hardware({}, name_or_path); }

Hardware read_hardware(std::string_view /*text*/, std::string_view name) {
  Hardware hardware;
  hardware.name = name;
  return hardware;
}

}  // namespace titan::rehearsal
