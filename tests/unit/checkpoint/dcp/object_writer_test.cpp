#include "core/checkpoint/dcp/object_writer.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/checkpoint/dcp/saved_object.hpp"
#include "core/checkpoint/parts.hpp"
#include "tests/unit/checkpoint/dcp/text_bytes.hpp"

namespace titan::checkpoint {
namespace {

TEST(SavedTensorFrameTest, EveryDtypeComesBack) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
                            DType::i8, DType::u8, DType::boolean}) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{}, std::vector<std::int64_t>{5}, std::vector<std::int64_t>{1, 300, 2}}) {
      const SavedTensorFrame frame(dtype, shape);
      const std::string data(static_cast<std::size_t>(num_elements(shape)) * element_size(dtype), 'e');
      EXPECT_EQ(frame.data_size(), data.size());
      const auto checksum = ::crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
      const std::string archive = frame.head() + data + frame.tail(static_cast<std::uint32_t>(checksum));
      EXPECT_EQ(archive.size(), frame.size());
      const SavedTensor tensor = SavedObject(testing::bytes_of(archive), "written").tensor();
      EXPECT_EQ(tensor.dtype, dtype);
      EXPECT_EQ(tensor.shape, shape);
      EXPECT_EQ(tensor.begin, frame.head().size());
      EXPECT_EQ(tensor.begin % 64, 0U);
      EXPECT_EQ(ArchiveReader(testing::bytes_of(archive), "written").read("data/0", data.size()), data);
    }
  }
}

}  // namespace
}  // namespace titan::checkpoint
