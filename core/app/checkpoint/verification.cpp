#include "core/app/checkpoint/verification.hpp"

#include "core/app/checkpoint/inspect_report.hpp"
#include "core/app/checkpoint/progress.hpp"
#include "core/base/error.hpp"
#include "core/base/quantity.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

constexpr std::size_t kMostFindings = 100;

/// What a checkpoint without a finding was checked for.
std::string scope(const checkpoint::Source& source) {
  const std::size_t files = source.manifest ? source.manifest->files.size() : source.files.size();
  const std::string beyond = source.format == checkpoint::Format::dcp ? "the structure, and every checksum there is"
                             : source.manifest
                                 ? "every hash"
                                 : concat("the structure: there are no hashes in ", format_name(source.format));
  return concat(files, files == 1 ? " file, " : " files, ", bytes_text(bytes_of_files(source)), ", ", beyond);
}

/// Reads all of it. What is wrong with the structure is thrown.
Verification examine(const std::filesystem::path& folder) {
  Progress progress(concat("verifying ", printable(folder.filename().native())));
  const auto told = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  if (checkpoint::format_of(folder) != checkpoint::Format::dcp) {
    const checkpoint::Source source = open_checkpoint(folder);
    return {checkpoint::verify(source, told), scope(source)};
  }
  // Checksums first: of what is damaged opening names the first alone.
  const std::vector<std::string> findings = checkpoint::verify_dcp(folder, told);
  return {findings, findings.empty() ? scope(open_checkpoint(folder)) : ""};
}

bool is_of_a_checkpoint(const Error& error) {
  return error.exit() == Exit::data || error.exit() == Exit::no_input || error.exit() == Exit::io;
}

}  // namespace

Verification verify_checkpoint(const std::filesystem::path& folder) {
  try {
    return examine(folder);
  } catch (const Error& error) {
    if (!is_of_a_checkpoint(error)) throw;
    return {{error.what()}, {}, error.exit() == Exit::io};
  }
}

Verification verify_step(const LocatedStep& step) {
  // Where there is no manifest, opening it would only wait for one.
  if (!step.problem.empty() && !checkpoint::has_marker(step.folder)) return {{step.problem}, {}};
  Verification verification = verify_checkpoint(step.folder);
  if (verification.findings.empty() && !step.problem.empty()) verification.findings = {step.problem};
  return verification;
}

std::string verification_text(const std::string& name, const Verification& verification) {
  if (verification.findings.empty()) return concat(printable(name), ": intact: ", verification.checked, "\n");
  std::string text = concat(printable(name), ": damaged\n");
  std::size_t shown = 0;
  for (const std::string& finding : verification.findings) {
    if (shown++ == kMostFindings)
      return concat(text, "  and ", verification.findings.size() - kMostFindings, " more\n");
    text += concat("  ", printable(finding), "\n");
  }
  return text;
}

}  // namespace titan::app
