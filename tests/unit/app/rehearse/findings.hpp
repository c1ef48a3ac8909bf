#pragma once

#include "core/app/rehearse/rehearsal_findings.hpp"

namespace titan::app::test {

/// A pipeline of two stages on two data-parallel ranks, as a sound rehearsal on some hardware tells of it.
RehearsalFindings sound_findings();

/// The same where the second stage makes another call.
RehearsalFindings mismatched_findings();

/// The same, held against a memory of that many bytes, with two changes tried.
RehearsalFindings unfit_findings(std::int64_t limit_bytes);

}  // namespace titan::app::test
