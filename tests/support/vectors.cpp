#include "tests/support/vectors.hpp"

#include <cstdlib>

namespace titan::testing {

std::filesystem::path vectors_dir() {
  const char* chosen = std::getenv("TITAN_VECTORS_DIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : TITAN_DEFAULT_VECTORS_DIR;
}

}  // namespace titan::testing
