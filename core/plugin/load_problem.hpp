#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace titan::plugin {

/// Why a plugin file cannot be used, before anybody said which plugin it is. what() is the reason.
class LoadProblem : public std::runtime_error {
 public:
  LoadProblem(Exit exit, const std::string& reason, std::string remedy)
      : std::runtime_error(reason), exit_(exit), remedy_(std::move(remedy)) {}
  Exit exit() const noexcept { return exit_; }
  const std::string& remedy() const noexcept { return remedy_; }

 private:
  Exit exit_;
  std::string remedy_;
};

/// The one message a user sees: plugin, file, reason, remedy. InputError's exit code (66) when the file is not there,
/// AbiError's (76) when it does not fit.
Error load_error(std::string_view plugin, const std::filesystem::path& file, const LoadProblem& problem);

}  // namespace titan::plugin
