#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_field.hpp"

namespace titan::checkpoint {

// The JSON files of a step: each is an object that says what it is ("format") and of which version. Every change of the
// fields raises the version, so a field that is not known is an error.

inline constexpr std::int64_t kDocumentVersion = 1;
inline constexpr std::int64_t kLargestNumber = std::numeric_limits<std::int64_t>::max();

/// DataError unless the object is of that format and of kDocumentVersion.
void require_document(const JsonField& root, std::string_view format);
/// DataError for a member of the object that has none of the names.
void require_no_others(const JsonField& object, std::initializer_list<std::string_view> names);

/// A size or position in bytes.
std::uint64_t read_bytes(const JsonField& field);
/// Sizes or offsets: numbers from 0 on, kMostDims at most.
std::vector<std::int64_t> read_sizes(const JsonField& field);
/// 32 hexadecimal digits, lower case: a hash or an id.
const std::string& read_hexadecimal(const JsonField& field);
/// The name of a file of the same folder.
const std::string& read_file_name(const JsonField& field);

}  // namespace titan::checkpoint
