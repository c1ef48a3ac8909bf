#pragma once

#include "core/base/bell.hpp"
#include "core/base/stop.hpp"

namespace titan::app {

/// Makes the stop_signals() set the process's stop flag. A second one ends the process at once with 128 + n; so does,
/// before begin_work(), a second without a safe point. One from the parent and one from somebody else are one, and
/// so are copies of one signal within kOneRequestSeconds. SIGPIPE and SIGXFSZ become ignored, SIGUSR2 rings
/// dump_requests(). Call once, from main.
void install_stop_signals();

/// The flag those signals set.
const StopFlag& stop_flag();

/// Sets that flag as a signal of that number would: what a second one does is up to later ones.
void request_stop(int signal);

/// Rings at each SIGUSR2: somebody wants to know what this process is doing.
Bell& dump_requests();

/// Says that there is work to lose from here on: a stop waits for the next safe point, however far it is.
void begin_work();
/// Whether begin_work() was called.
bool has_work_begun();

/// Makes fatal signals say in which plugin and callback they happened, before they end the process as always.
void install_fatal_signals();

}  // namespace titan::app
