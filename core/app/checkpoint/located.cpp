#include "core/app/checkpoint/located.hpp"

#include <algorithm>

#include "core/app/output.hpp"
#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

using checkpoint::Format;

std::optional<Format> known_format(const std::filesystem::path& folder) {
  try {
    return checkpoint::format_of(folder);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Whether there is something of a step of ours in a folder without a manifest: a lost one takes its step along.
bool has_remains(const std::filesystem::path& folder) {
  if (checkpoint::is_ours(folder)) return true;
  return checkpoint::is_real_folder(folder) &&
         std::ranges::any_of(checkpoint::names_in(folder), [](const std::string& name) {
           return name.starts_with("shard-") && name.ends_with(".safetensors");
         });
}

/// Says why a step of ours does not count, or reads its manifest.
void look_at_ours(LocatedStep& located) {
  located.problem = checkpoint::why_not_committed(located.folder);
  if (!located.problem.empty()) return;
  try {
    located.manifest = checkpoint::read_manifest(located.folder / checkpoint::kManifestFile);
  } catch (const Error& error) {
    located.problem = error.what();
  }
}

LocatedStep step_in(const std::filesystem::path& folder, std::int64_t step) {
  LocatedStep located;
  located.step = step;
  located.folder = folder / checkpoint::step_name(step);
  located.format = known_format(located.folder);
  if (!located.format && has_remains(located.folder)) located.format = Format::titan;
  if (!located.format) {
    located.problem = "there is no checkpoint in it";
  } else if (*located.format == Format::titan || checkpoint::has_marker(located.folder)) {
    look_at_ours(located);
  }
  return located;
}

}  // namespace

const LocatedStep* Located::newest() const {
  const auto found = std::find_if(steps.rbegin(), steps.rend(), [](const auto& step) { return step.problem.empty(); });
  return found == steps.rend() ? nullptr : &*found;
}

std::filesystem::path folder_of(const std::string& word) {
  std::filesystem::path folder = word;
  return folder.has_filename() ? folder : folder.parent_path();
}

Located locate(const std::string& word) {
  Located located{folder_of(word), {}, {}};
  std::error_code failure;
  if (!std::filesystem::is_directory(located.folder, failure)) {
    throw InputError("[checkpoint] there is no such folder: ", printable(word));
  }
  located.format = known_format(located.folder);
  if (located.format) return located;
  if (has_remains(located.folder)) {
    throw DataError("[checkpoint] the manifest of a step is missing: ", printable(word), ": no ",
                    checkpoint::kManifestFile);
  }
  for (const std::int64_t step : checkpoint::step_folders(located.folder)) {
    located.steps.push_back(step_in(located.folder, step));
  }
  if (!located.steps.empty()) return located;
  throw InputError(
      "[checkpoint] neither a checkpoint nor a folder with steps: ", printable(word),
      ": expected MANIFEST.json (titan), model.safetensors or its index (Hugging Face), .metadata (DCP), or ",
      "folders step-N");
}

std::filesystem::path choose_checkpoint(const std::string& word) {
  const Located located = locate(word);
  if (located.format) return located.folder;
  const LocatedStep* newest = located.newest();
  if (newest == nullptr) {
    throw InputError("[checkpoint] no step is committed in the folder: ", printable(word), ": ",
                     printable(checkpoint::step_name(located.steps.back().step)), ": ", located.steps.back().problem);
  }
  print(concat(printable(word), ": ", checkpoint::step_name(newest->step), " is the newest of ", located.steps.size(),
               located.steps.size() == 1 ? " step\n" : " steps\n"));
  return newest->folder;
}

checkpoint::Source open_checkpoint(const std::filesystem::path& folder) {
  switch (checkpoint::format_of(folder)) {
    case Format::hugging_face:
      return checkpoint::open_hub(folder);
    case Format::dcp:
      return checkpoint::open_dcp(folder);
    default:
      return checkpoint::open_titan(folder);
  }
}

std::string format_name(Format format) {
  switch (format) {
    case Format::hugging_face:
      return "hugging_face";
    case Format::dcp:
      return "dcp";
    default:
      return "titan";
  }
}

}  // namespace titan::app
