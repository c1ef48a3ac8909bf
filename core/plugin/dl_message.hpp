#pragma once

#include <string_view>
#include <vector>

#include "core/plugin/load_problem.hpp"

namespace titan::plugin {

/// Turns what the system's loader says ("x.so: undefined symbol: _ZN2at4goneEi") into a reason and a remedy a person
/// can act on: the symbol demangled, the missing library named.
LoadProblem explain_dl_message(std::string_view message, const std::vector<std::string>& needed);

}  // namespace titan::plugin
