#pragma once

namespace titan::app {

/// When the program began, in seconds of the monotonic clock: the time of the first call, which main makes first of
/// all. A script that becomes the program by exec is not counted.
double program_begin();

}  // namespace titan::app
