#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/hub/hub.hpp"

namespace titan::checkpoint {

/// The hub's name of one tensor of a stack: the index stands where the name has '*'.
std::string stacked_name(const HubName& name, std::int64_t index);

/// Rows of a head of a tensor with pairs that rotate. DataError names it: the shape is not that many heads of pairs.
std::int64_t head_rows(const std::vector<std::int64_t>& shape, const HubName& name);

/// Says where the hub has a row of ours: pairs that rotate together lie side by side here, and half a head apart there.
std::int64_t hub_row(std::int64_t row, std::int64_t head_rows);

}  // namespace titan::checkpoint
