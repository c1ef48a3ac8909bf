#include "core/train/rehearsal/columns.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

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

namespace {

/// Columns by where they stand along dp_shard.
class Shards {
 public:
  Shards(const config::Mesh& mesh, const Column& column, const std::function<std::string(const Column&)>& sizes)
      : by_coordinate_(static_cast<std::size_t>(mesh.degree(config::Axis::dp_shard))),
        signs_(by_coordinate_.size()),
        sizes_(sizes) {
    const auto add = [&](const Column& one) {
      const std::int64_t coordinate = mesh.coordinate(one.ranks.front(), config::Axis::dp_shard);
      by_coordinate_[static_cast<std::size_t>(coordinate)].push_back({one.ranks, {}});
    };
    add(column);
    for (const Column& other : column.stands_for) add(other);
  }

  std::vector<Column> split() {
    fill(0, by_coordinate_.size() - 1);
    std::map<std::string, std::size_t> places;
    std::vector<Column> found;
    for (std::size_t i = 0; i < by_coordinate_.size(); ++i) {
      for (Column& column : by_coordinate_[i]) {
        const auto [known, is_new] = places.try_emplace(signs_[i], found.size());
        (is_new ? found : found[known->second].stands_for).push_back(std::move(column));
      }
    }
    return found;
  }

 private:
  /// Signs of everything in [first, last]: what lies between equal ends equals them.
  void fill(std::size_t first, std::size_t last) {
    for (const std::size_t end : {first, last}) {
      if (signs_[end].empty()) signs_[end] = sizes_(by_coordinate_[end].front());
    }
    if (signs_[first] == signs_[last]) {
      std::fill(signs_.begin() + static_cast<std::ptrdiff_t>(first), signs_.begin() + static_cast<std::ptrdiff_t>(last),
                signs_[first]);
    } else if (last - first > 1) {
      const std::size_t middle = (first + last) / 2;
      fill(first, middle);
      fill(middle, last);
    }
  }

  std::vector<std::vector<Column>> by_coordinate_;
  std::vector<std::string> signs_;
  const std::function<std::string(const Column&)>& sizes_;
};

}  // namespace

std::vector<Column> split_along_shards(const config::Mesh& mesh, const Column& column,
                                       const std::function<std::string(const Column&)>& sizes) {
  return Shards(mesh, column, sizes).split();
}

}  // namespace titan::train
