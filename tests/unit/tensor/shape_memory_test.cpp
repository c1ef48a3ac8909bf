#include "core/tensor/shape_memory.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <thread>

#include "core/tensor/meta_kernels.hpp"

namespace titan::tensor {
namespace {

using ::testing::ElementsAre;

class ShapeMemoryTest : public ::testing::Test {
 protected:
  ShapeMemoryTest() { install_meta_allocator(); }

  static at::Tensor floats(std::int64_t count) { return at::empty({count}, at::TensorOptions(at::kMeta)); }

  std::shared_ptr<ShapeMemory> memory_ = std::make_shared<ShapeMemory>();
};

TEST_F(ShapeMemoryTest, CountsWhatTensorsWouldTake) {
  const ShapeMemoryScope scope(*memory_);
  at::Tensor a = floats(10), b = floats(100);
  const at::Tensor view = a.narrow(0, 2, 3);
  EXPECT_EQ(memory_->live_bytes(), 440);
  b.reset();
  EXPECT_EQ(memory_->live_bytes(), 40);
  a.reset();
  EXPECT_EQ(memory_->live_bytes(), 40) << "the view holds it";
}

TEST_F(ShapeMemoryTest, KnowsWhatLivedAtThePeak) {
  const ShapeMemoryScope scope(*memory_);
  const at::Tensor a = floats(10);
  at::Tensor b = floats(100);
  b.reset();
  at::Tensor c = floats(50), d = floats(60);
  c.reset();
  const ShapeMemory::Peak peak = memory_->peak();
  EXPECT_EQ(peak.bytes, 480);
  EXPECT_THAT(peak.live, ElementsAre(0, 2, 3));
  EXPECT_EQ(peak.last, 3U);
  EXPECT_EQ(memory_->block_of(d.view({2, 30})), 3U);
}

TEST_F(ShapeMemoryTest, NothingIsNoPeak) {
  EXPECT_EQ(memory_->peak().bytes, 0);
  EXPECT_EQ(memory_->peak().last, std::nullopt);
}

TEST_F(ShapeMemoryTest, KeepsWhatTheCallerSaysOfEachBlock) {
  std::uint64_t place = 7;
  memory_->tag = [](void* context) { return *static_cast<std::uint64_t*>(context); };
  memory_->tag_context = &place;
  const ShapeMemoryScope scope(*memory_);
  const at::Tensor a = floats(1);
  place = 8;
  const at::Tensor b = floats(1);
  EXPECT_EQ(memory_->blocks()[0].tag, 7U);
  EXPECT_EQ(memory_->blocks()[1].tag, 8U);
}

TEST_F(ShapeMemoryTest, CountsTheScopesOwnThreadAlone) {
  const ShapeMemoryScope scope(*memory_);
  std::thread([] { EXPECT_EQ(floats(1000).numel(), 1000); }).join();
  EXPECT_EQ(memory_->live_bytes(), 0);
}

TEST_F(ShapeMemoryTest, OutlivesItsOwnerWhileTensorsDo) {
  at::Tensor left;
  {
    const ShapeMemoryScope scope(*memory_);
    left = floats(4);
  }
  memory_.reset();
  left.reset();
}

TEST_F(ShapeMemoryTest, MayBeGivenAndTakenFromAStorage) {
  const ShapeMemoryScope scope(*memory_);
  const at::Tensor tensor = floats(8);
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::DataPtr(nullptr, at::Device(at::kMeta)));
  EXPECT_EQ(memory_->live_bytes(), 0);
  storage->set_data_ptr_noswap(storage->allocator()->allocate(32));
  EXPECT_EQ(memory_->live_bytes(), 32);
}

/// What an operator gives on the meta device and on the CPU.
void expect_same_form(const at::Tensor& shape, const at::Tensor& real) {
  EXPECT_EQ(shape.sizes(), real.sizes());
  EXPECT_EQ(shape.strides(), real.strides());
  EXPECT_EQ(shape.scalar_type(), real.scalar_type());
}

class MetaKernels : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  MetaKernels() { register_meta_kernels(); }
  at::Tensor make(at::IntArrayRef sizes) const { return at::rand(sizes).to(GetParam()); }
};

TEST_P(MetaKernels, OfEmbeddings) {
  const at::Tensor weight = make({11, 4}), ids = at::tensor({1, 5, 10}, at::kLong).view({1, 3});
  expect_same_form(at::embedding(weight.to(at::kMeta), ids.to(at::kMeta)), at::embedding(weight, ids));
  const at::Tensor gradient = make({1, 3, 4});
  expect_same_form(at::embedding_dense_backward(gradient.to(at::kMeta), ids.to(at::kMeta), 11, -1, false),
                   at::embedding_dense_backward(gradient, ids, 11, -1, false));
}

/// q, k and v as projections make them, on a device; what attention and its backward make of them.
std::vector<at::Tensor> attended(at::ScalarType type, at::Device device) {
  const auto heads = [&](std::int64_t count) {
    return at::zeros({2, 5, count, 8}, at::TensorOptions(device).dtype(type)).transpose(1, 2);
  };
  const at::Tensor q = heads(4), k = heads(2), v = heads(2);
  const auto [out, sums] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, true);
  const auto [for_q, for_k, for_v] =
      at::_scaled_dot_product_flash_attention_for_cpu_backward(out, q, k, v, out, sums, 0.0, true);
  return {out, sums, for_q, for_k, for_v};
}

TEST_P(MetaKernels, OfAttention) {
  const auto shapes = attended(GetParam(), at::kMeta), real = attended(GetParam(), at::kCPU);
  for (std::size_t i = 0; i < real.size(); ++i) {
    SCOPED_TRACE(i);
    expect_same_form(shapes[i], real[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, MetaKernels, ::testing::Values(at::kFloat, at::kBFloat16, at::kDouble),
                         [](const auto& tested) { return c10::toString(tested.param); });

}  // namespace
}  // namespace titan::tensor
