#pragma once

#include <filesystem>

#include "core/app/verdict.hpp"

namespace titan::app {

/// Whether the environment says that this process is one of several ranks.
bool has_peers();

/// Where a rank that no launcher told (TITAN_ERROR_FILE) is to write its error: `errors/rank_N.json` in the dump
/// folder. Removes what an earlier run left there. Does nothing for a run of one rank.
void write_errors_to(const std::filesystem::path& dump_folder);

/// Writes how this rank ended for whoever launched it: the error to TITAN_ERROR_FILE, and to TORCHELASTIC_ERROR_FILE in
/// torchelastic's form; on success the completion token to TITAN_DONE_FILE. Where the token cannot be written, the
/// verdict becomes that failure; an error that cannot be written is logged.
void tell_launcher(Verdict& verdict);

}  // namespace titan::app
