#include "core/train/rehearsal/columns.hpp"

#include <map>

namespace titan::train {

Column column_of(const config::Mesh& mesh, std::int64_t rank) { return {mesh.members("pp", rank), {}}; }

std::vector<Column> columns(const config::Mesh& mesh, const std::vector<config::Axis>& distinct) {
  const std::int64_t count = mesh.world_size() / mesh.degree(config::Axis::pp);
  std::map<std::vector<std::int64_t>, std::size_t> places;
  std::vector<Column> found;
  // pp is the outermost axis: the first ranks are those of the first stage.
  for (std::int64_t rank = 0; rank < count; ++rank) {
    std::vector<std::int64_t> place;
    for (const config::Axis axis : distinct) {
      if (axis != config::Axis::pp) place.push_back(mesh.coordinate(rank, axis));
    }
    Column column = column_of(mesh, rank);
    const auto [known, is_new] = places.try_emplace(std::move(place), found.size());
    if (is_new) {
      found.push_back(std::move(column));
    } else {
      found[known->second].stands_for.push_back(std::move(column));
    }
  }
  return found;
}

}  // namespace titan::train
