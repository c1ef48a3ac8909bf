#include "core/plugin/load_problem.hpp"

#include "core/base/text.hpp"

namespace titan::plugin {

Error load_error(std::string_view plugin, const std::filesystem::path& file, const LoadProblem& problem) {
  return {problem.exit(), concat("[plugin] cannot load ", printable(plugin), " from ", printable(file.string()), ": ",
                                 printable(problem.what()), "; ", problem.remedy())};
}

}  // namespace titan::plugin
