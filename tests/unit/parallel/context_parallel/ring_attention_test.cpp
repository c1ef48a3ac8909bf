#include "plugins/parallel/context_parallel/ring_attention.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/support/compare.hpp"
#include "tests/unit/parallel/context_parallel/rank_mesh.hpp"

namespace titan::parallel {
namespace {

using titan::testing::relative_difference;

constexpr std::int64_t kRows = 2, kLength = 48, kHeads = 4, kHeadDim = 8;
constexpr double kScale = 0.4;

/// Ranks are threads already.
class OneThreadPerRank : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const auto* const kOneThreadPerRank = ::testing::AddGlobalTestEnvironment(new OneThreadPerRank);

struct Case {
  std::int64_t ranks;
  LoadBalancer balancer;
  bool is_causal;
  std::int64_t kv_heads;
};

std::vector<Case> cases() {
  std::vector<Case> made;
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const LoadBalancer balancer : {LoadBalancer::headtail, LoadBalancer::none}) {
      for (const bool is_causal : {true, false}) {
        for (const std::int64_t kv_heads : {4, 2, 1}) made.push_back({ranks, balancer, is_causal, kv_heads});
      }
    }
  }
  return made;
}

std::string name_of(const Case& wanted) {
  return "cp" + std::to_string(wanted.ranks) + (wanted.balancer == LoadBalancer::headtail ? "_headtail" : "_none") +
         (wanted.is_causal ? "_causal" : "_unmasked") + "_kv" + std::to_string(wanted.kv_heads);
}

/// Attention on one rank: inputs, output and gradients, [B, L, heads, H].
struct Whole {
  at::Tensor q, k, v, weights, out;

  Whole(const Case& wanted, at::ScalarType dtype) {
    const auto made = [&](std::int64_t heads) {
      return at::randn({kRows, kLength, heads, kHeadDim}, at::kDouble).to(dtype).requires_grad_(true);
    };
    q = made(kHeads), k = made(wanted.kv_heads), v = made(wanted.kv_heads);
    weights = at::randn({kRows, kLength, kHeads, kHeadDim}, at::kDouble).to(dtype);
    const auto heads = [](const at::Tensor& tensor) { return tensor.to(at::kDouble).transpose(1, 2); };
    out = at::scaled_dot_product_attention(heads(q), heads(k), heads(v), {}, 0.0, wanted.is_causal, kScale, true)
              .transpose(1, 2);
    out.backward(weights.to(at::kDouble));
  }
};

/// What one rank's ring gives.
struct Part {
  at::Tensor q, k, v, out;
};

Part run_ring(const strategy::Mesh& mesh, const Case& wanted, const Whole& whole) {
  const strategy::Group group = mesh.group("cp");
  const auto mine = [&](const at::Tensor& tensor) {
    return columns_of_rank(tensor.detach(), wanted.balancer, group.rank(), group.size());
  };
  const auto leaf = [&](const at::Tensor& tensor) { return mine(tensor).requires_grad_(true); };
  Part part{leaf(whole.q), leaf(whole.k), leaf(whole.v), {}};
  const RingAttention ring{mesh, group, "layers.0.attention.sdpa", wanted.balancer, wanted.is_causal};
  part.out = ring_attention(ring, part.q, part.k, part.v, kScale);
  part.out.backward(mine(whole.weights));
  return part;
}

void expect_part(const Part& part, const Case& wanted, const Whole& whole, std::int64_t rank, double tolerance) {
  const auto mine = [&](const at::Tensor& tensor) {
    return columns_of_rank(tensor.detach(), wanted.balancer, rank, wanted.ranks);
  };
  EXPECT_LT(relative_difference(part.out, mine(whole.out)), tolerance);
  EXPECT_LT(relative_difference(part.q.grad(), mine(whole.q.grad())), tolerance);
  EXPECT_LT(relative_difference(part.k.grad(), mine(whole.k.grad())), tolerance);
  EXPECT_LT(relative_difference(part.v.grad(), mine(whole.v.grad())), tolerance);
}

class RingAttentionCases : public ::testing::TestWithParam<Case> {};

TEST_P(RingAttentionCases, IsAttentionOnOneRank) {
  for (const auto& [dtype, tolerance] : {std::pair{at::kDouble, 1e-12}, {at::kFloat, 1e-5}, {at::kBFloat16, 2e-2}}) {
    const Whole whole(GetParam(), dtype);
    run_context_ranks(GetParam().ranks, [&, tolerance = tolerance](const strategy::Mesh& mesh) {
      expect_part(run_ring(mesh, GetParam(), whole), GetParam(), whole, mesh.group("cp").rank(), tolerance);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, RingAttentionCases, ::testing::ValuesIn(cases()),
                         [](const auto& wanted) { return name_of(wanted.param); });

/// Products of queries and keys of the attention kernels that this thread runs, forward and backward.
struct KernelWork {
  int num_blocks = 0;
  std::int64_t num_pairs = 0;

  static KernelWork& of_thread() {
    thread_local KernelWork work;
    return work;
  }
  static std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
    if (!std::string_view(function.name()).starts_with("titan::flash_attention")) return {};
    const bool is_backward = std::string_view(function.name()).ends_with("_backward");
    const at::Tensor q = function.inputs()[is_backward ? 1 : 0].toTensor();
    const at::Tensor k = function.inputs()[is_backward ? 2 : 1].toTensor();
    ++of_thread().num_blocks;
    of_thread().num_pairs += q.size(2) * k.size(2);
    return {};
  }
};

KernelWork work_of_rank(const strategy::Mesh& mesh, const Case& wanted, const Whole& whole) {
  KernelWork::of_thread() = {};
  const auto callback =
      at::addThreadLocalCallback(at::RecordFunctionCallback(&KernelWork::note)
                                     .needsInputs(true)
                                     .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  run_ring(mesh, wanted, whole);
  at::removeCallback(callback);
  return KernelWork::of_thread();
}

TEST(RingAttention, GivesAllRanksTheSameWorkUnderHeadtail) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    const Case wanted{ranks, LoadBalancer::headtail, true, 2};
    const Whole whole(wanted, at::kFloat);
    run_context_ranks(ranks, [&](const strategy::Mesh& mesh) {
      const KernelWork found = work_of_rank(mesh, wanted, whole);
      const std::int64_t length = kLength / ranks;
      EXPECT_EQ(found.num_blocks, 2 * ranks);
      EXPECT_EQ(found.num_pairs, 2 * (length * length + (ranks - 1) * length * length / 2));
    });
  }
}

TEST(RingAttention, SkipsMaskedBlocks) {
  const Case wanted{3, LoadBalancer::none, true, 2};
  const Whole whole(wanted, at::kFloat);
  run_context_ranks(3, [&](const strategy::Mesh& mesh) {
    EXPECT_EQ(work_of_rank(mesh, wanted, whole).num_blocks, 2 * (mesh.group("cp").rank() + 1));
  });
}

TEST(RingAttention, GivesTheSameBitsEachTime) {
  const Case wanted{4, LoadBalancer::headtail, true, 2};
  const Whole whole(wanted, at::kFloat);
  run_context_ranks(4, [&](const strategy::Mesh& mesh) {
    const Part one = run_ring(mesh, wanted, whole), two = run_ring(mesh, wanted, whole);
    EXPECT_TRUE(one.out.equal(two.out));
    EXPECT_TRUE(one.q.grad().equal(two.q.grad()));
    EXPECT_TRUE(one.k.grad().equal(two.k.grad()));
    EXPECT_TRUE(one.v.grad().equal(two.v.grad()));
  });
}

TEST(RingAttention, FailsOnAllRanksWhenOneIsLost) {
  const Case wanted{3, LoadBalancer::headtail, true, 2};
  const Whole whole(wanted, at::kFloat);
  std::atomic<int> num_failed = 0;
  const auto body = [&](const strategy::Mesh& mesh) {
    if (mesh.group("cp").rank() == 1) throw std::runtime_error("lost on purpose");
    try {
      run_ring(mesh, wanted, whole);
    } catch (const sdk::Error& error) {
      EXPECT_EQ(error.code(), TITAN_ERROR_UNAVAILABLE);
      ++num_failed;
    }
  };
  EXPECT_THROW(run_context_ranks(3, body), std::runtime_error);
  EXPECT_EQ(num_failed, 2);
}

}  // namespace
}  // namespace titan::parallel
