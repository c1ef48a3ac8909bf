#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/hub/hub_index.hpp"
#include "core/checkpoint/hub/hub_plan.hpp"
#include "core/checkpoint/hub/hub_writer.hpp"
#include "core/checkpoint/model_tensors.hpp"

namespace titan::checkpoint {
namespace {

/// The files that one rank writes.
std::vector<HubFile> share(const std::vector<HubFile>& files, const HubExport& options) {
  std::vector<HubFile> mine;
  for (auto i = static_cast<std::size_t>(options.rank); i < files.size();
       i += static_cast<std::size_t>(options.world_size)) {
    mine.push_back(files[i]);
  }
  return mine;
}

std::string index_text(const std::vector<HubFile>& files) {
  HubWeightMap weights;
  std::int64_t parameters = 0;
  std::uint64_t bytes = 0;
  for (const HubFile& file : files) {
    for (const HubTensor& tensor : file.tensors) {
      weights[tensor.tensor.name] = file.name;
      parameters += num_elements(tensor.tensor.shape);
      bytes += tensor.bytes();
    }
  }
  return write_hub_index(weights, parameters, bytes);
}

/// A router that has learnt a bias may choose other experts without it.
void warn_of_biases(const Source& source, std::span<const HubName> names) {
  const auto is_left_out = [&](const auto& tensor) {
    return is_balancing_bias(tensor.first) && std::ranges::find(names, tensor.first, &HubName::name) == names.end();
  };
  const auto count = std::ranges::count_if(source.tensors, is_left_out);
  if (count == 0) return;
  log_warning("checkpoint", "models of the hub have no biases that balance experts, they are left out: ", count,
              ", the first is ", std::ranges::find_if(source.tensors, is_left_out)->first);
}

}  // namespace

std::vector<std::string> export_hub(SystemCalls& calls, const Source& source, std::span<const HubName> names,
                                    const std::filesystem::path& folder, const HubExport& options) {
  TITAN_CHECK(options.rank >= 0 && options.rank < options.world_size, "rank ", options.rank);
  const std::vector<HubFile> files = plan_hub_files(source, names, options);
  if (options.rank == 0) warn_of_biases(source, names);
  const std::vector<HubFile> mine = share(files, options);
  std::uint64_t done = 0, total = 0;
  for (const HubFile& file : mine) {
    for (const HubTensor& tensor : file.tensors) total += tensor.bytes();
  }
  std::vector<std::string> written;
  HubWriter writer(calls, source, folder);
  for (const HubFile& file : mine) {
    writer.write(file, [&](std::uint64_t bytes) {
      done += bytes;
      if (options.progress) options.progress(done, total);
    });
    written.push_back(file.name);
  }
  if (options.rank == 0 && files.size() > 1) {
    write_new_file(calls, folder / kHubIndexFile, index_text(files));
    written.emplace_back(kHubIndexFile);
  }
  return written;
}

}  // namespace titan::checkpoint
