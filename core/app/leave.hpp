#pragma once

namespace titan::app {

/// What main does last: returns `status`, or ends the process with it at once where destructors of static objects would
/// only cost time. All work is done by then, and standard output is flushed.
int leave(int status);

}  // namespace titan::app
