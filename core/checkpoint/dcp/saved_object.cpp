#include "core/checkpoint/dcp/saved_object.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/little_endian.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "core/checkpoint/parts.hpp"

namespace titan::checkpoint {
namespace {

using namespace dcp_names;

constexpr std::uint64_t kMostPickleBytes = std::uint64_t{1} << 20U;

constexpr std::string_view kAllowed[] = {kRebuildTensor, kOrderedDict, kDTypes[0].storage, kDTypes[1].storage,
                                         kDTypes[2].storage, kDTypes[3].storage, kDTypes[4].storage, kDTypes[5].storage,
                                         kDTypes[6].storage, kDTypes[7].storage, kDTypes[8].storage, kDTypes[9].storage,
                                         // How protocol 2 writes bytes.
                                         "_codecs.encode"};

/// Whether elements of that shape and those strides follow each other without gaps. The stride of a dim of one element
/// says nothing.
bool is_contiguous(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1 && strides[i] != expected) return false;
    expected *= std::max<std::int64_t>(shape[i], 1);
  }
  return true;
}

}  // namespace

template <class... Parts>
void SavedObject::fail(const Parts&... reason) const {
  throw DataError("[checkpoint] saved object that is not understood: ", printable(archive_.source()), ": ", reason...);
}

SavedObject::SavedObject(RangeOfBytes bytes, std::string source)
    : archive_(std::move(bytes), std::move(source)),
      pickle_(pickle::Document::read(archive_.read("data.pkl", kMostPickleBytes), kAllowed, archive_.source())) {
  // Older releases have none; they wrote little-endian everywhere.
  if (archive_.has("byteorder") && archive_.read("byteorder", 64) != "little") fail("it is not little-endian");
}

std::int64_t SavedObject::count_of(const pickle::Value& number, const char* what) const {
  const std::optional<std::int64_t> count = number.integer();
  if (!count || *count < 0) fail(what, " of the tensor is no count");
  return *count;
}

std::vector<std::int64_t> SavedObject::counts_of(const pickle::Value& numbers, const char* what) const {
  if (numbers.kind() != pickle::Kind::tuple || numbers.size() > kMostDcpDims) fail(what, " of the tensor is no tuple");
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < numbers.size(); ++i) counts.push_back(count_of(numbers.item(i), what));
  return counts;
}

SavedObject::Storage SavedObject::storage_of(const pickle::Value& persistent) const {
  // "storage", class, name of the record, device, number of elements.
  const std::optional<pickle::Value> fields = persistent.argument();
  if (persistent.kind() != pickle::Kind::persistent || fields->kind() != pickle::Kind::tuple || fields->size() != 5 ||
      fields->item(0).text() != "storage") {
    fail("its tensor has no storage");
  }
  const pickle::Value type = fields->item(1);
  const auto found = std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DTypeNames& names) {
    return type.kind() == pickle::Kind::name && names.storage == type.name();
  });
  const auto key = fields->item(2).text();
  if (found == std::end(kDTypes) || !key || key->empty() || key->find('/') != std::string_view::npos) {
    fail("the storage of its tensor is none");
  }
  const ArchiveRecord record = archive_.find(concat("data/", *key));
  const std::int64_t size = count_of(fields->item(4), "number of elements");
  const std::uint64_t width = element_size(found->dtype);
  if (record.size % width != 0 || record.size / width != static_cast<std::uint64_t>(size)) {
    fail("the storage of its tensor has another length");
  }
  return {found->dtype, record.begin, size};
}

SavedTensor SavedObject::tensor() const {
  const pickle::Value root = value();
  // storage, offset, shape, strides, requires_grad, hooks; newer releases may add metadata.
  if (root.kind() != pickle::Kind::call || root.name() != kRebuildTensor || root.argument()->size() < 6) {
    fail("it is no tensor");
  }
  const pickle::Value arguments = *root.argument();
  const Storage storage = storage_of(arguments.item(0));
  SavedTensor tensor{storage.dtype, counts_of(arguments.item(2), "shape"), 0};
  const std::int64_t size = num_elements(tensor.shape);
  const std::vector<std::int64_t> strides = counts_of(arguments.item(3), "strides");
  if (strides.size() != tensor.shape.size() || !is_contiguous(tensor.shape, strides)) {
    fail("the elements of its tensor are not in order");
  }
  const std::int64_t offset = count_of(arguments.item(1), "offset");
  if (offset > storage.size || size > storage.size - offset) fail("its tensor leaves its storage");
  tensor.begin = storage.begin + static_cast<std::uint64_t>(offset) * element_size(storage.dtype);
  return tensor;
}

std::int64_t SavedObject::integer() const {
  if (const std::optional<std::int64_t> number = value().integer()) return *number;
  if (value().name() != kRebuildTensor) fail("it is no whole number");
  const SavedTensor found = tensor();
  if (is_floating(found.dtype) || num_elements(found.shape) != 1) fail("it is no whole number");
  const std::size_t width = element_size(found.dtype);
  TITAN_CHECK(width >= 1 && width <= 8, "an element of ", width, " bytes");
  std::string bytes(width, '\0');
  archive_.bytes().read(found.begin, bytes);
  const bool is_signed = found.dtype != DType::u8 && found.dtype != DType::boolean;
  const std::size_t unused = is_signed ? 64 - 8 * width : 0;
  return static_cast<std::int64_t>(little_endian(bytes) << unused) >> unused;
}

}  // namespace titan::checkpoint
