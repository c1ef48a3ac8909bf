#include <gtest/gtest.h>

#include "core/checkpoint/dcp/metadata.hpp"
#include "tests/unit/checkpoint/dcp/made_metadata.hpp"

namespace titan::checkpoint {
namespace {

using testing::made_metadata;

TEST(MetadataWriterTest, ComesBackEqual) {
  const DcpMetadata metadata = made_metadata();
  EXPECT_EQ(read_dcp_metadata(write_dcp_metadata(metadata), "written"), metadata);
}

TEST(MetadataWriterTest, EveryDtypeComesBack) {
  DcpMetadata metadata = made_metadata();
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
                            DType::i8, DType::u8, DType::boolean}) {
    metadata.tensors["empty"].dtype = dtype;
    EXPECT_EQ(read_dcp_metadata(write_dcp_metadata(metadata), "written"), metadata);
  }
}

TEST(MetadataWriterTest, ManyNamesComeBack) {
  DcpMetadata metadata;
  metadata.files = {"__0_0.distcp"};
  for (std::uint64_t i = 0; i < 2000; ++i) {
    metadata.tensors["model.layer" + std::to_string(i)] = {DType::f32, {3}, {{{{0}, {3}}, {0, i << 33U, 1000}}}};
  }
  EXPECT_EQ(read_dcp_metadata(write_dcp_metadata(metadata), "written"), metadata);
}

}  // namespace
}  // namespace titan::checkpoint
