#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/dcp/archive_reader.hpp"
#include "core/checkpoint/dtype.hpp"
#include "core/pickle/document.hpp"

namespace titan::checkpoint {

/// A tensor in an archive of torch.save: row-major, without gaps.
struct SavedTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // of its elements in the archive
};

/// What torch.save wrote. Nothing of it is made: calls and names are values, of an allow-list that holds tensors and
/// plain values.
class SavedObject {
 public:
  /// Reads directory and pickle, no tensor. DataError names `source`: another archive or pickle than torch.save's, a
  /// name that is not on the list, big-endian content.
  SavedObject(RangeOfBytes bytes, std::string source);

  /// The object, if it is a tensor. DataError: another object, elements with gaps between them or behind their storage.
  SavedTensor tensor() const;
  /// The object, if it is a whole number, or a tensor of one. DataError: another object.
  std::int64_t integer() const;
  /// The object as it was pickled.
  pickle::Value value() const { return pickle_.root(); }

 private:
  struct Storage {
    DType dtype = DType::f32;
    std::uint64_t begin = 0;  // in the archive
    std::int64_t size = 0;    // elements
  };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const;
  std::int64_t count_of(const pickle::Value& value, const char* what) const;
  std::vector<std::int64_t> counts_of(const pickle::Value& value, const char* what) const;
  Storage storage_of(const pickle::Value& persistent) const;

  ArchiveReader archive_;
  pickle::Document pickle_;
};

}  // namespace titan::checkpoint
