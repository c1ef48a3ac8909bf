#pragma once

namespace titan::app {

/// Guards success: from here on the process cannot end with status 0 unless mark_complete() was called. A library that
/// calls exit(0), quick_exit(0), _exit(0) or _Exit(0) leads to status 70. Call once, first in main.
void require_completion();

/// The completion token: main has decided the exit code.
void mark_complete();

}  // namespace titan::app
