#include "core/app/missing_inputs.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/log.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

void warn_of(const config::Config& config, std::string_view option) {
  const std::string path = config.optional_string(option).value_or("");
  std::error_code ignored;
  if (path.empty() || std::filesystem::exists(path, ignored)) return;
  log_warning("config", "does not exist here, training would stop: ", option, " = ", printable(path), " (",
              config.origin(option), ")");
}

}  // namespace

void warn_of_missing_inputs(const config::Config& config) {
  warn_of(config, "hf_assets_path");
  warn_of(config, "dataloader.dataset_path");
  if (config.boolean("validator.enable")) warn_of(config, "validator.dataset_path");
}

}  // namespace titan::app
