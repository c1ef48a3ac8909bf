#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/dtype.hpp"

namespace titan::checkpoint {

/// What torch.save writes for an object, as a pickle of pickle::Writer.
std::string saved_object(std::string_view pickle);

/// What torch.save writes around the elements of a tensor, which are row-major, without gaps, and less than 4 GiB.
class SavedTensorFrame {
 public:
  SavedTensorFrame(DType dtype, const std::vector<std::int64_t>& shape);

  std::string head() const;
  /// What comes behind the elements, whose CRC-32 is `checksum`.
  std::string tail(std::uint32_t checksum) const;
  /// Bytes of the elements, and of the whole.
  std::uint64_t data_size() const { return data_size_; }
  std::uint64_t size() const;

 private:
  std::string pickle_;
  std::uint64_t data_size_;
};

}  // namespace titan::checkpoint
