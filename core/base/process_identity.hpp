#pragma once

#include <string>
#include <string_view>

namespace titan {

/// This process, in a word that no other process of any machine has, now or later.
std::string process_identity();

/// Whether that process is, or was, where this one could see it: on this machine, in this container.
bool is_of_this_machine(std::string_view identity);

/// Whether the process of that identity is known to have ended. False too where that cannot be known: it is another
/// machine's, or another container's.
bool has_process_ended(std::string_view identity);

}  // namespace titan
