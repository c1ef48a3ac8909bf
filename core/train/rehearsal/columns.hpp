#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/config/mesh.hpp"

namespace titan::train {

/// Ranks that differ along pp alone, by pipeline rank: they are rehearsed together, since neighbours tell each other
/// what they send. The other columns that have the same work are those it stands for.
struct Column {
  std::vector<std::int64_t> ranks;
  std::vector<Column> stands_for;
};

/// The column that a rank is in.
Column column_of(const config::Mesh& mesh, std::int64_t rank);

/// All columns, those together that stand at the same place of the `distinct` axes.
std::vector<Column> columns(const config::Mesh& mesh, const std::vector<config::Axis>& distinct);

/// Cuts what a column stands for where the sizes of its ranks' parts change along dp_shard, of which `sizes` tells one
/// column's. Parts of ranks further along the axis are taken to be no larger, as all strategies cut: of few columns it
/// is asked.
std::vector<Column> split_along_shards(const config::Mesh& mesh, const Column& column,
                                       const std::function<std::string(const Column&)>& sizes);

}  // namespace titan::train
