#include <cerrno>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/index.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::checkpoint {

namespace {

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

void rename_or_fail(SystemCalls& calls, const std::filesystem::path& from, const std::filesystem::path& to) {
  if (calls.rename(from.c_str(), to.c_str()) == 0) return;
  throw IoError("[checkpoint] cannot rename: ", shown(from), " to ", shown(to), ": ", reason_of(errno));
}

void write_listed(SystemCalls& calls, const std::filesystem::path& folder, const ExtraFile& file, Manifest& manifest) {
  write_new_file(calls, folder / file.name, file.content);
  manifest.files.push_back({file.name, file.content.size(), hash128(file.content)});
}

/// Writes all that a step lacks beside its shards, the manifest last: from then on the folder is whole.
void seal(SystemCalls& calls, const std::filesystem::path& temporary, Manifest& manifest,
          std::span<const ShardReport> shards, std::span<const ExtraFile> extra) {
  for (const ShardReport& shard : shards) manifest.files.push_back({shard.name, shard.size, shard.hash});
  for (const ExtraFile& file : extra) write_listed(calls, temporary, file, manifest);
  if (!shards.empty()) {
    const std::string index = write_index(index_of(temporary, shards, manifest.save_id));
    write_listed(calls, temporary, {kIndexFile, index}, manifest);
  }
  const std::filesystem::path marker = temporary / kManifestFile;
  const std::filesystem::path draft = concat(marker.native(), ".tmp");
  write_new_file(calls, draft, write_manifest(manifest));
  rename_or_fail(calls, draft, marker);
  sync_folder(calls, temporary);
}

}  // namespace

std::filesystem::path temporary_folder(const std::filesystem::path& folder, std::int64_t step,
                                       std::string_view save_id) {
  return folder / concat('.', step_name(step), ".tmp-", save_id);
}

std::filesystem::path begin_step(SystemCalls& calls, const std::filesystem::path& folder, std::int64_t step,
                                 std::string_view save_id, std::optional<std::int64_t> abandoned_above) {
  const std::filesystem::path final_folder = folder / step_name(step);
  const bool makes_way = abandoned_above && step > *abandoned_above && is_ours(final_folder);
  if (is_taken(final_folder) && !makes_way) {
    throw CreateError("[checkpoint] the step is there already: ", shown(final_folder));
  }
  const std::filesystem::path temporary = temporary_folder(folder, step, save_id);
  if (calls.mkdir(temporary.c_str(), 0700) != 0) fail_to_create_folder(temporary, errno);
  return temporary;
}

void publish_step(SystemCalls& calls, const std::filesystem::path& folder, const std::filesystem::path& temporary,
                  Manifest manifest, std::span<const ShardReport> shards, std::span<const ExtraFile> extra,
                  const std::function<void()>& make_way) {
  if (!is_real_folder(temporary)) {
    throw IoError("[checkpoint] the folder of a save was taken away, nothing is published: ", shown(temporary));
  }
  const std::filesystem::path final_folder = folder / step_name(manifest.step);
  seal(calls, temporary, manifest, shards, extra);
  if (make_way) make_way();
  rename_or_fail(calls, temporary, final_folder);
  try {
    sync_folder(calls, folder);
  } catch (const IoError&) {
    // Nobody knows whether the step would outlast the machine: it is taken back.
    rename_or_fail(calls, final_folder, temporary);
    throw;
  }
}

}  // namespace titan::checkpoint
