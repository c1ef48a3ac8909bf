#include "core/tensor/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace titan::tensor {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const std::int64_t grain : {1, 7, 5000}) {
    std::vector<std::atomic<int>> visits(1000);
    parallel_for(0, 1000, grain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& count : visits) ASSERT_EQ(count, 1);
  }
  parallel_for(3, 3, 1, [](std::int64_t, std::int64_t) { FAIL() << "nothing to visit"; });
}

TEST(ParallelFor, ExceptionsComeBack) {
  EXPECT_THROW(parallel_for(0, 1000, 1, [](std::int64_t, std::int64_t) { throw std::runtime_error("no"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace titan::tensor
