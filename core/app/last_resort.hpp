#pragma once

namespace titan::app {

/// Makes memory that runs out where no handler can be (while a library begins, in a thread of a library's own) end the
/// process with 71 and a sentence, told to the launcher too; any other exception there ends it as always. Call once,
/// from main.
void install_last_resort();

}  // namespace titan::app
