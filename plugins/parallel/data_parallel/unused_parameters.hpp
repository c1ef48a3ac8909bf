#pragma once

#include <cstddef>
#include <vector>

#include "titan/torch/group.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// Finds the parameters that a whole step uses on no rank: a single rank would have no gradient for them and refuse the
/// model, where a strategy would sum zeros for ever.
class UnusedParameters {
 public:
  explicit UnusedParameters(strategy::Mesh mesh) : ranks_(mesh.group("loss")) {}

  /// Adds a unit's parameters; its number counts from 0.
  void add_unit(const std::vector<strategy::Parameter>& parameters) { units_.push_back({parameters, {}}); }
  /// Notes at which of the unit's parameters backward has left a gradient.
  void note(std::size_t unit);
  /// Compares with the other ranks: a collective call. InternalError, on all of them, names the first parameter that
  /// none has noted.
  void check() const;

 private:
  struct Unit {
    std::vector<strategy::Parameter> parameters;
    std::vector<bool> used;
  };
  strategy::Group ranks_;
  std::vector<Unit> units_;
};

}  // namespace titan::parallel
