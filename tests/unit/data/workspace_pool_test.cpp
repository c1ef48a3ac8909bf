#include "core/data/workspace_pool.hpp"

#include <gtest/gtest.h>

#include <set>

namespace titan::data {
namespace {

TEST(WorkspacePool, LendsEachWorkspaceToOneAtATime) {
  const BpeTables tables;
  WorkspacePool pool(tables);
  const Workspace* first = nullptr;
  {
    const WorkspacePool::Lease a(pool);
    const WorkspacePool::Lease b(pool);
    EXPECT_NE(&*a, &*b);
    first = &*a;
  }
  const WorkspacePool::Lease again(pool);
  const WorkspacePool::Lease other(pool);
  EXPECT_TRUE(&*again == first || &*other == first);
}

}  // namespace
}  // namespace titan::data
