#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace titan::train {

/// The processor's name as the system gives it, or "CPU".
std::string processor_name();
/// The same from the text of /proc/cpuinfo.
std::string processor_name(std::string_view cpuinfo);

/// Bytes of the machine's main memory; 0 when unknown.
std::int64_t memory_capacity();

}  // namespace titan::train
