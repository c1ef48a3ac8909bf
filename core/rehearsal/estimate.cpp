#include "core/rehearsal/estimate.hpp"

namespace titan::rehearsal {

std::optional<Estimate> estimate(const RehearsalReport& /*report*/, const config::Mesh& /*mesh*/,
                                 const Hardware& /*hardware*/, const Workload& /*workload*/) {
  return std::nullopt;
}

}  // namespace titan::rehearsal
