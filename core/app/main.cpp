#include <exception>

#include "core/app/completion.hpp"
#include "core/app/last_resort.hpp"
#include "core/app/leave.hpp"
#include "core/app/output.hpp"
#include "core/app/program_begin.hpp"
#include "core/app/rank_outcome.hpp"
#include "core/app/signals.hpp"
#include "core/app/verbs.hpp"
#include "core/app/verdict.hpp"

/// The one place that decides the exit status; core/base/error.hpp lists what they mean.
int main(int argc, char** argv) {
  titan::app::program_begin();
  titan::app::require_completion();
  titan::app::occupy_standard_streams();
  titan::app::keep_launchers_streams();
  titan::app::install_fatal_signals();
  titan::app::install_last_resort();
  titan::app::install_stop_signals();

  titan::app::Verdict verdict;
  try {
    titan::app::run_command_line(titan::config::Words(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (...) {
    verdict = titan::app::judge(std::current_exception());
    titan::app::report(verdict);
  }
  titan::app::tell_launcher(verdict);
  titan::app::mark_complete();
  return titan::app::leave(verdict.status);
}
