#include "core/app/checkpoint/conversion.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "core/app/checkpoint/progress.hpp"
#include "core/app/checkpoint/target_folder.hpp"
#include "core/app/checkpoint/titan_export.hpp"
#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/model_tensors.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

using checkpoint::Format;
using checkpoint::Source;

Source without_training(Source source) {
  std::erase_if(source.tensors, [](const auto& tensor) { return !checkpoint::is_model_tensor(tensor.first); });
  source.train_state.reset();
  return source;
}

/// A folder step-N must hold step N: the target's name decides for a model alone.
std::int64_t step_of(const Source& source, const std::filesystem::path& target) {
  std::int64_t step = 0;
  if (source.manifest) step = source.manifest->step;
  if (source.train_state) step = source.train_state->step;
  const auto named = checkpoint::step_of_name(target.filename().native());
  if (!named || *named == step) return step;
  if (!source.train_state) return *named;
  throw CreateError("[checkpoint] the target's name is of another step: ", printable(target.native()),
                    ": the checkpoint is of step ", step, ": name it ", checkpoint::step_name(step),
                    " or differently altogether");
}

/// An absolute path without links, as far as there is something at it.
std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::path real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failure);
  if (failure) real = std::filesystem::absolute(path).lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

bool is_within(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

/// What is read stays as it is, and what is published holds nothing else.
void require_apart(const std::filesystem::path& from, const std::filesystem::path& target) {
  const std::filesystem::path real_from = real_path(from), real_target = real_path(target);
  if (!is_within(real_target, real_from) && !is_within(real_from, real_target)) return;
  throw CreateError("[checkpoint] one of source and target is inside the other: ", printable(from.native()), ", ",
                    printable(target.native()));
}

std::filesystem::path make_folder(const std::filesystem::path& folder) {
  if (checkpoint::system_calls().mkdir(folder.c_str(), 0700) == 0) return folder;
  throw CreateError("[checkpoint] cannot make a folder: ", printable(folder.native()), ": ",
                    checkpoint::reason_of(errno));
}

/// One conversion.
class Converter {
 public:
  Converter(const Source& source, const Conversion& conversion)
      : source_(conversion.dtype ? without_training(source) : source),
        conversion_(conversion),
        step_(step_of(source_, conversion.target)),
        folder_(checkpoint::system_calls(), conversion.target),
        progress_("converting") {}

  void run() { folder_.publish(write()); }

 private:
  std::filesystem::path write() {
    switch (conversion_.format) {
      case Format::titan:
        return write_titan();
      case Format::dcp:
        return write_dcp();
      default:
        return write_hub();
    }
  }

  std::filesystem::path write_titan() {
    TitanExport options;
    options.step = step_;
    options.dtype = conversion_.dtype;
    options.progress = told();
    if (source_.manifest) options.origin = source_.manifest->origin;
    if (conversion_.origin) options.origin = *conversion_.origin;
    return export_titan(checkpoint::system_calls(), source_, folder_.beside(), options);
  }

  std::filesystem::path write_hub() {
    std::filesystem::path folder = make_folder(folder_.beside() / "hub");
    checkpoint::HubExport options;
    options.dtype = conversion_.dtype;
    options.progress = told();
    checkpoint::export_hub(checkpoint::system_calls(), source_, conversion_.names, folder, options);
    return folder;
  }

  /// DCP files hold items as they are: another dtype goes through a step of our own.
  std::filesystem::path write_dcp() {
    std::filesystem::path folder = make_folder(folder_.beside() / "dcp");
    if (conversion_.dtype) {
      const Source converted = checkpoint::open_titan(write_titan());
      checkpoint::export_dcp(checkpoint::system_calls(), converted, folder, told());
    } else {
      checkpoint::export_dcp(checkpoint::system_calls(), source_, folder, told());
    }
    return folder;
  }

  std::function<void(std::uint64_t, std::uint64_t)> told() {
    return [this](std::uint64_t done, std::uint64_t total) { progress_.update(done, total); };
  }

  Source source_;
  const Conversion& conversion_;
  std::int64_t step_;
  TargetFolder folder_;
  Progress progress_;
};

}  // namespace

void convert(const Source& source, const Conversion& conversion) {
  require_apart(source.folder, conversion.target);
  Converter(source, conversion).run();
}

}  // namespace titan::app
