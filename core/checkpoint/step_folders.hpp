#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/manifest.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

// The folder of a run's checkpoints. Rank 0 alone calls these. A step is committed when a real folder `step-N` has a
// manifest that can be read and whose files are there in their sizes; N is 0 or has no leading zero and 18 digits at
// most. Everything else in the folder is left alone.

/// "step-12".
std::string step_name(std::int64_t step);
/// The step of such a name, or nothing.
std::optional<std::int64_t> step_of_name(std::string_view name);

/// Makes the folder of checkpoints if it is not there, mode 0700. CreateError: it cannot be made, is a file, or may not
/// be written to.
void make_checkpoint_folder(SystemCalls& calls, const std::filesystem::path& folder);

/// All real folders of such names, committed or not, by increasing step. Errors as committed_steps().
std::vector<std::int64_t> step_folders(const std::filesystem::path& folder);

/// The committed steps, by increasing step. InputError when the folder cannot be listed; empty when there is none.
std::vector<std::int64_t> committed_steps(const std::filesystem::path& folder);

/// Whether there is a real folder with a manifest: a step of ours, though it may be damaged.
bool has_marker(const std::filesystem::path& step_folder);
/// Whether a folder of a step's name is ours, though it may have lost a file. Others, and empty ones, are left alone.
bool is_ours(const std::filesystem::path& step_folder);
/// Why a folder is no committed step: "a file is missing: index.json". Empty: it is one.
std::string why_not_committed(const std::filesystem::path& step_folder);

/// Removes what saves that were cut short left there (`.step-N.tmp-*`, `.trash-*`); says so in a warning. What cannot
/// be removed is a warning too.
void sweep(SystemCalls& calls, const std::filesystem::path& folder);

/// `.step-N.tmp-SAVE_ID`: where a save lies until it is whole.
std::filesystem::path temporary_folder(const std::filesystem::path& folder, std::int64_t step,
                                       std::string_view save_id);
/// Makes the temporary folder of a save and returns it. CreateError when there is a `step-N`,
/// unless is_ours() and above `abandoned_above`, which publishing will move away.
std::filesystem::path begin_step(SystemCalls& calls, const std::filesystem::path& folder, std::int64_t step,
                                 std::string_view save_id, std::optional<std::int64_t> abandoned_above = std::nullopt);

/// A file of a step besides its shards.
struct ExtraFile {
  std::string name, content;
};

/// Commits a step whose shards are written and synced: writes the extra files, the index (of shards, if any), and the
/// manifest by rename, syncs the folder, calls `make_way`, renames it to `step-N`, syncs the parent. `manifest.files`
/// may list files that are written already; the others are added. CreateError or IoError name the cause; nothing is
/// committed then. A folder that is gone was taken from us: nothing is published.
void publish_step(SystemCalls& calls, const std::filesystem::path& folder, const std::filesystem::path& temporary,
                  Manifest manifest, std::span<const ShardReport> shards, std::span<const ExtraFile> extra,
                  const std::function<void()>& make_way = nullptr);

/// Removes a save that failed.
void give_up_step(SystemCalls& calls, const std::filesystem::path& temporary) noexcept;

/// Moves the steps of ours above `step`, damaged ones too, to a new folder `abandoned-RUN_ID`, the newest first, so
/// that another history does not get mixed with this one. Returns how many. CreateError or IoError.
std::size_t abandon_newer(SystemCalls& calls, const std::filesystem::path& folder, std::int64_t step,
                          std::string_view run_id);

/// Removes the oldest committed steps but `keep`, the newest of which was just committed; never `loaded`, unless a
/// newer one's files are whole (hashed). Rename to `.trash-*` first. What cannot be removed is a warning.
void retain(SystemCalls& calls, const std::filesystem::path& folder, std::int64_t keep,
            std::optional<std::int64_t> loaded);

}  // namespace titan::checkpoint
