#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"

namespace titan::app {

/// Where ranks stand in a layout: "pp 0, tp 1-7", for all ranks of these places; "all ranks"; empty where the ranks are
/// no such block.
std::string places_of(const config::Mesh& mesh, const std::vector<std::int64_t>& ranks);

/// "ranks 0-63: pp 0" or "rank 3"; a long list is cut.
std::string kind_text(const config::Mesh& mesh, const RehearsedRank& rank);

/// Of the last step alone.
inline double step_flops(const RehearsedRank& rank) { return rank.flops - rank.flops_before_step; }

/// "1.23e+15", "0".
std::string flops_text(double flops);
/// "12,345".
std::string count_text(std::int64_t count);
/// "61.2 GiB"; what is below 0 as 0.
std::string size_text(std::int64_t bytes);
std::string size_text(double bytes);
/// A message without its "[room] ".
std::string_view without_tag(std::string_view message);
/// "12.3 %".
std::string share_text(double share);

}  // namespace titan::app
