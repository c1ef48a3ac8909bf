#include "core/checkpoint/hub/hub_names.hpp"

#include <set>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/listing.hpp"
#include "core/checkpoint/model_tensors.hpp"

namespace titan::checkpoint {

void require_names(const Source& source, std::span<const HubName> names) {
  std::set<std::string_view> known;
  std::vector<std::string> missing, unknown;
  for (const HubName& name : names) {
    known.insert(name.name);
    if (!source.tensors.contains(name.name)) missing.push_back(name.name);
  }
  for (const auto& [name, tensor] : source.tensors) {
    if (is_model_tensor(name) && !is_balancing_bias(name) && !known.contains(name)) unknown.push_back(name);
  }
  const std::string folder = printable(source.folder.native());
  if (!missing.empty()) {
    throw DataError("[checkpoint] the checkpoint lacks parameters of the model: ", join_first(missing), ": ", folder);
  }
  if (!unknown.empty()) {
    throw DataError("[checkpoint] tensors that the model's names on the hub do not cover: ", join_first(unknown), ": ",
                    folder);
  }
}

std::string stacked_name(const HubName& name, std::int64_t index) {
  const std::size_t star = name.hub_name.find('*');
  if (star == std::string::npos) return name.hub_name;
  return concat(name.hub_name.substr(0, star), index, name.hub_name.substr(star + 1));
}

std::int64_t head_rows(const std::vector<std::int64_t>& shape, const HubName& name) {
  const bool fits = !shape.empty() && name.count > 0 && shape[0] % name.count == 0 && shape[0] / name.count % 2 == 0;
  if (fits) return shape[0] / name.count;
  throw DataError("[checkpoint] the rows of a tensor are not heads of pairs: ", printable(name.hub_name), ": ",
                  shape.empty() ? 0 : shape[0], " rows, ", name.count, " heads");
}

std::int64_t hub_row(std::int64_t row, std::int64_t head_rows) {
  const std::int64_t within = row % head_rows;
  return row - within + within % 2 * (head_rows / 2) + within / 2;
}

}  // namespace titan::checkpoint
