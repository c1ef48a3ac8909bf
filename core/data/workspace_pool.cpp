#include "core/data/workspace_pool.hpp"

#include <utility>

namespace titan::data {

WorkspacePool::Lease::Lease(WorkspacePool& pool) : pool_(pool), workspace_(pool.take()) {}

WorkspacePool::Lease::~Lease() { pool_.put_back(std::move(workspace_)); }

std::unique_ptr<Workspace> WorkspacePool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
    // Giving back must not allocate: it runs in a destructor.
    idle_.reserve(++num_made_);
  }
  return std::make_unique<Workspace>(tables_);
}

void WorkspacePool::put_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace titan::data
