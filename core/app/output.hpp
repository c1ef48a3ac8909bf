#pragma once

#include <string_view>

namespace titan::app {

/// Opens something in the place of standard streams that are closed, so that no file of ours gets their numbers.
/// Writing to a closed one fails as it would have. Call first in main.
void occupy_standard_streams();

/// Keeps the launcher's streams that this process inherited under numbers of its environment (TITAN_INPUT_FD,
/// TITAN_NOTICE_FD) from programs that this one starts.
void keep_launchers_streams();

/// Writes all of `text` to standard output. IoError; Interrupted with SIGPIPE when the reader left.
void print(std::string_view text);

}  // namespace titan::app
