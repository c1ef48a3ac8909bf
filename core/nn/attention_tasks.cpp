#include "core/nn/attention_tasks.hpp"

#include <algorithm>

#include "core/nn/documents.hpp"

namespace titan::nn {
namespace {

using kernels::AttentionTask;

// A backward that is cut makes the probabilities twice: once for the queries' gradients, once for the keys'. The five
// products are then seven.
constexpr double kCostOfCutting = 1.4;
// So many tasks a thread even out that blocks further down see more keys.
constexpr std::int64_t kTasksPerThread = 4;
// Blocks of queries or keys; fewer are not worth a task.
constexpr std::int64_t kSmallestPart = 64;

/// Each document, or row, and kv head: what has no sum in common with the others.
std::vector<AttentionTask> whole_tasks(const at::Tensor& query, const at::Tensor& key,
                                       const std::optional<at::Tensor>& found) {
  std::vector<AttentionTask> tasks;
  const auto add = [&](std::int64_t row, std::int64_t start, std::int64_t queries, std::int64_t keys) {
    for (std::int64_t head = 0; head < key.size(1); ++head) {
      AttentionTask task;
      task.row = row;
      task.kv_head = head;
      task.first_query = task.first_key = start;
      task.num_queries = queries;
      task.num_keys = keys;
      tasks.push_back(task);
    }
  };
  if (found) {
    for (const Document& document : documents(*found))
      add(document.row, document.start, document.length, document.length);
  } else if (query.numel() > 0) {
    for (std::int64_t row = 0; row < query.size(0); ++row) add(row, 0, query.size(2), key.size(2));
  }
  return tasks;
}

bool is_worth_cutting(std::int64_t num_tasks, std::int64_t num_threads) {
  const std::int64_t rounds = (num_tasks + num_threads - 1) / num_threads;
  return kCostOfCutting * static_cast<double>(num_tasks) < static_cast<double>(rounds * num_threads);
}

void cut_into(std::vector<AttentionTask>& out, AttentionTask task, std::int64_t num_parts) {
  const std::int64_t length = task.of_keys && !task.of_queries ? task.num_keys : task.num_queries;
  task.num_parts = std::clamp<std::int64_t>(length / kSmallestPart, 1, num_parts);
  for (task.part = 0; task.part < task.num_parts; ++task.part) out.push_back(task);
}

}  // namespace

AttentionPlan plan_attention(const at::Tensor& query, const at::Tensor& key, const std::optional<at::Tensor>& found,
                             bool is_backward, std::int64_t num_threads) {
  const std::vector<AttentionTask> whole = whole_tasks(query, key, found);
  const auto count = static_cast<std::int64_t>(whole.size());
  AttentionPlan plan;
  for (AttentionTask task : whole) {
    plan.most_keys = std::max(plan.most_keys, task.num_keys);
    if (!is_backward) {
      cut_into(plan.tasks, task, num_threads == 1 ? 1 : (kTasksPerThread * num_threads + count - 1) / count);
    } else if (!is_worth_cutting(count, num_threads)) {
      plan.tasks.push_back(task);
    } else {
      const std::int64_t num_parts = (num_threads + count - 1) / count;
      task.of_keys = false;
      cut_into(plan.tasks, task, num_parts);
      std::swap(task.of_keys, task.of_queries);
      cut_into(plan.tasks, task, num_parts);
    }
  }
  plan.num_workers = std::clamp<std::int64_t>(static_cast<std::int64_t>(plan.tasks.size()), 1, num_threads);
  return plan;
}

}  // namespace titan::nn
