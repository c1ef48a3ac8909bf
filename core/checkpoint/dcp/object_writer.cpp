#include "core/checkpoint/dcp/object_writer.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/dcp/archive_writer.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/parts.hpp"
#include "core/pickle/writer.hpp"

namespace titan::checkpoint {
namespace {

using namespace dcp_names;

std::string_view storage_class(DType dtype) {
  return std::find_if(std::begin(kDTypes), std::end(kDTypes),
                      [&](const DTypeNames& names) { return names.dtype == dtype; })
      ->storage;
}

/// torch._utils._rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks).
std::string tensor_pickle(DType dtype, const std::vector<std::int64_t>& shape) {
  pickle::Writer pickle;
  pickle.name(kRebuildTensor);
  pickle.begin_tuple();
  pickle.begin_tuple();
  pickle.text("storage");
  pickle.name(storage_class(dtype));
  pickle.text("0");
  pickle.text("cpu");
  pickle.integer(num_elements(shape));
  pickle.end_tuple();
  pickle.persistent();
  pickle.integer(0);
  pickle.begin_tuple();
  for (const std::int64_t size : shape) pickle.integer(size);
  pickle.end_tuple();
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(shape[i], 1);
  pickle.begin_tuple();
  for (const std::int64_t stride : strides) pickle.integer(stride);
  pickle.end_tuple();
  pickle.boolean(false);
  pickle.name(kOrderedDict);
  pickle.begin_tuple();
  pickle.end_tuple();
  pickle.call();
  pickle.end_tuple();
  pickle.call();
  return pickle.finish();
}

void begin_archive(ArchiveWriter& archive, std::string_view pickle) {
  archive.add("data.pkl", pickle);
  archive.add(".format_version", "1");
  archive.add(".storage_alignment", "64");
  archive.add("byteorder", "little");
}

/// 20 decimal digits each.
std::string serialization_id(std::string_view pickle, std::uint32_t checksum) {
  std::string id;
  for (const std::uint64_t part : {hash64(pickle), std::uint64_t{checksum}}) {
    const std::string digits = concat(part);
    id += std::string(20 - digits.size(), '0') + digits;
  }
  return id;
}

void end_archive(ArchiveWriter& archive, std::string_view pickle, std::uint32_t checksum) {
  archive.add("version", "3\n");
  archive.add(".data/serialization_id", serialization_id(pickle, checksum));
  archive.finish();
}

}  // namespace

std::string saved_object(std::string_view pickle) {
  ArchiveWriter archive;
  begin_archive(archive, pickle);
  end_archive(archive, pickle, 0);
  return archive.take();
}

SavedTensorFrame::SavedTensorFrame(DType dtype, const std::vector<std::int64_t>& shape)
    : pickle_(tensor_pickle(dtype, shape)),
      data_size_(static_cast<std::uint64_t>(num_elements(shape)) * element_size(dtype)) {}

std::string SavedTensorFrame::head() const {
  ArchiveWriter archive;
  begin_archive(archive, pickle_);
  archive.begin("data/0", data_size_);
  return archive.take();
}

std::string SavedTensorFrame::tail(std::uint32_t checksum) const {
  ArchiveWriter archive;
  begin_archive(archive, pickle_);
  archive.begin("data/0", data_size_);
  archive.take();
  archive.end(checksum);
  end_archive(archive, pickle_, checksum);
  return archive.take();
}

std::uint64_t SavedTensorFrame::size() const { return head().size() + data_size_ + tail(0).size(); }

}  // namespace titan::checkpoint
