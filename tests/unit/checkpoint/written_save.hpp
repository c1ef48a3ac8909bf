#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/step_folders.hpp"
#include "tests/unit/checkpoint/saved_run.hpp"

namespace titan::checkpoint::testing {

/// A save of two ranks that is written and not yet published.
struct WrittenSave {
  WrittenSave(SystemCalls& system, std::filesystem::path checkpoints, std::int64_t step, int history = 1)
      : calls(system), folder(std::move(checkpoints)) {
    manifest.step = step;
    manifest.save_id = draw_id();
    temporary = begin_step(calls, folder, step, manifest.save_id);
    for (const std::int64_t rank : {0, 1}) {
      const RankState state(rank, 2, history, step);
      const SaveRequest request = state.request();
      shards.push_back(
          write_shard(calls, temporary / shard_name(rank, 2), lay_out_shard(request.parts, manifest.save_id)));
      extra.insert(extra.end(), request.extra.begin(), request.extra.end());
    }
  }

  void publish(const std::function<void()>& make_way = nullptr) const {
    publish_step(calls, folder, temporary, manifest, shards, extra, make_way);
  }

  SystemCalls& calls;
  std::filesystem::path folder, temporary;
  Manifest manifest;
  std::vector<ShardReport> shards;
  std::vector<ExtraFile> extra;
};

}  // namespace titan::checkpoint::testing
