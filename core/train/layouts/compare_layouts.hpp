#pragma once

#include "core/config/layouts.hpp"
#include "core/train/layouts/layout_run.hpp"

namespace titan::train {

/// Judges what a layout did by what one rank did on the same batches.
LayoutsReport judge_layout(const LayoutsRequest& request, const LayoutOutcome& outcome, const LayoutOutcome& reference);

/// Runs a layout and its reference, both with ranks as threads of this process, and compares them. Throws titan::Error
/// and Interrupted: what ends either run ends the comparison.
LayoutsReport compare_layouts(const LayoutsRequest& request);

}  // namespace titan::train
