#pragma once

#include <cstdint>

#include "core/app/session.hpp"
#include "core/config/layouts.hpp"

namespace titan::app {

/// A rank of a layout with plugins of its own. All but session and engine may go away, if `config` stays.
struct RankPlace {
  const config::Config* config = nullptr;
  config::Mesh mesh;
  std::int64_t rank = 0;
};

/// Makes a rank that runs as every rank does, but that nobody observes.
LayoutRank make_layout_rank(const Session& session, const Engine& engine, const RankPlace& place);

/// Makes a rank with the model, the strategies and the pipeline's schedule only.
LayoutRank make_checked_rank(const Session& session, const Engine& engine, const RankPlace& place);

}  // namespace titan::app
