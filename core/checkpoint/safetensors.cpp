#include "core/checkpoint/safetensors.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/base/json.hpp"
#include "core/checkpoint/input_file.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::size_t kMostNameBytes = 4096;
constexpr std::size_t kMostMetadata = 65'536;

/// Takes a header apart while it is parsed: a tree of values would be many times as large as the text. Errors are
/// thrown through the parser.
class HeaderReader {
 public:
  HeaderReader(std::string_view json, const std::string& source) : json_(json), source_(source) {
    constexpr std::size_t kShortestEntry = 48;  // "":{"dtype":"U8","shape":[],"data_offsets":[0,0]}
    header_.entries.reserve(json.size() / kShortestEntry + 1);
  }

  SafetensorsHeader take() && { return std::move(header_); }

  // What the parser calls.
  bool null() { unexpected("null"); }
  bool boolean(bool /*value*/) { unexpected("true or false"); }
  bool number_integer(std::int64_t value) { fail("a number is negative: ", value); }
  bool number_float(double /*value*/, const std::string& text) {
    fail("not a whole number, or too large: ", shortened(text, 32));
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { unexpected("binary"); }

  bool number_unsigned(std::uint64_t value) {
    if (place_ == Place::shape) {
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) fail("a size is too large: ", value);
      if (entry_.tensor.shape.size() == kMostDims) fail("more than ", kMostDims, " dims");
      entry_.tensor.shape.push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::offsets) {
      if (num_offsets_ == 2) fail("\"data_offsets\" has more than two numbers");
      (num_offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(std::string& value) {
    if (place_ == Place::metadata) {
      if (header_.metadata.size() == kMostMetadata) fail("more than ", kMostMetadata, " texts of metadata");
      if (!header_.metadata.emplace(key_, std::move(value)).second) fail("a key is there twice: ", printable(key_));
    } else if (place_ == Place::entry && field_ == Field::dtype) {
      const std::optional<DType> dtype = dtype_of_safetensors(value);
      if (!dtype) fail("unknown dtype: ", printable(shortened(value, 32)));
      entry_.tensor.dtype = *dtype;
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) {
    if (place_ == Place::outside) {
      place_ = Place::root;
    } else if (place_ == Place::root) {
      place_ = key_ == kSafetensorsMetadata ? Place::metadata : Place::entry;
      if (place_ == Place::entry) begin_entry();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& name) {
    if (name.size() > kMostNameBytes) fail("a name has more than ", kMostNameBytes, " bytes");
    if (place_ == Place::entry) {
      field_ = field_of(name);
      if (!seen_.insert(field_)) fail("a field is there twice: ", printable(name));
    } else {
      key_.swap(name);
      if (place_ == Place::root && key_ == kSafetensorsMetadata && std::exchange(has_metadata_, true)) {
        fail("a name is there twice");
      }
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::entry) finish_entry();
    place_ = place_ == Place::root ? Place::outside : Place::root;
    return true;
  }

  bool start_array(std::size_t /*size*/) {
    if (place_ != Place::entry || field_ == Field::dtype) unexpected("an array");
    place_ = field_ == Field::shape ? Place::shape : Place::offsets;
    return true;
  }

  bool end_array() {
    if (place_ == Place::offsets && num_offsets_ != 2) fail("\"data_offsets\" needs two numbers");
    place_ = Place::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) {
    const TextPosition at = position_of(json_, position == 0 ? 0 : position - 1);
    throw DataError("[checkpoint] ", printable(source_), ": header is not valid JSON: line ", at.line, ", column ",
                    at.column);
  }

 private:
  enum class Place : std::uint8_t { outside, root, metadata, entry, shape, offsets };
  enum class Field : std::uint8_t { dtype, shape, offsets };

  /// The fields of an entry that were met.
  class Fields {
   public:
    bool insert(Field field) { return !std::exchange(seen_.at(static_cast<std::size_t>(field)), true); }
    bool are_all() const { return seen_[0] && seen_[1] && seen_[2]; }

   private:
    std::array<bool, 3> seen_{};
  };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... why) const {
    const std::string of = place_ == Place::outside ? "header" : printable(shortened(key_, 200));
    throw DataError("[checkpoint] ", printable(source_), ": ", of, ": ", why...);
  }
  [[noreturn]] void unexpected(const char* what) const { fail("did not expect ", what, " here"); }

  Field field_of(const std::string& name) const {
    if (name == "dtype") return Field::dtype;
    if (name == "shape") return Field::shape;
    if (name == "data_offsets") return Field::offsets;
    fail("unknown field: ", printable(shortened(name, 32)));
  }

  void begin_entry() {
    entry_ = {};
    seen_ = {};
    num_offsets_ = 0;
  }

  void finish_entry() {
    if (!seen_.are_all()) fail("needs dtype, shape and data_offsets");
    entry_.tensor.name = key_;
    entry_.tensor.shape.shrink_to_fit();
    header_.entries.push_back(std::move(entry_));
  }

  std::string_view json_;
  const std::string& source_;
  SafetensorsHeader header_;
  Place place_ = Place::outside;
  Field field_ = Field::dtype;
  Fields seen_;
  SafetensorsEntry entry_;
  std::size_t num_offsets_ = 0;
  bool has_metadata_ = false;
  std::string key_;  // in the root: of the tensor
};

/// Checks that the entries, in order, fill `size` bytes of data, and moves them to where they lie in the file.
void place_entries(std::vector<SafetensorsEntry>& entries, std::uint64_t header_size, std::uint64_t size,
                   const std::string& source) {
  std::uint64_t at = 0;
  for (SafetensorsEntry& entry : entries) {
    const auto fail = [&](const auto&... why) {
      throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(entry.tensor.name, 200)), ": ",
                      why...);
    };
    if (entry.begin > entry.end) fail("ends before it begins: ", entry.begin, " to ", entry.end);
    if (entry.end > size) fail("ends after the file: at ", entry.end, " of ", size, " bytes of data");
    if (entry.begin < at) fail("overlaps another tensor: begins at ", entry.begin, ", expected ", at);
    if (entry.begin > at) fail("leaves a gap: begins at ", entry.begin, ", expected ", at);
    const std::uint64_t elements = static_cast<std::uint64_t>(num_elements(entry.tensor.shape));
    const std::size_t each = element_size(entry.tensor.dtype);
    if (elements > size / each || elements * each != entry.end - entry.begin) {
      fail("has ", entry.end - entry.begin, " bytes, not those of its shape and dtype: ", elements, " elements of ",
           each, " bytes");
    }
    at = entry.end;
    entry.begin += header_size;
    entry.end += header_size;
  }
  if (at != size) {
    throw DataError("[checkpoint] ", printable(source), ": bytes that belong to no tensor: ", size - at,
                    " at the end of the file");
  }
}

/// Refuses a name that is there twice. Hashes are sorted, not names: a million of them within a second.
void check_names(const std::vector<SafetensorsEntry>& entries, const std::string& source) {
  std::vector<std::pair<std::uint64_t, const std::string*>> names;
  names.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) names.emplace_back(hash64(entry.tensor.name), &entry.tensor.name);
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  const auto twice = std::adjacent_find(names.begin(), names.end(), [](const auto& a, const auto& b) {
    return a.first == b.first && *a.second == *b.second;
  });
  if (twice != names.end()) {
    throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(*twice->second, 200)),
                    ": a name is there twice");
  }
}

}  // namespace

std::uint64_t safetensors_header_size(std::span<const std::byte> prefix, std::uint64_t file_size,
                                      const std::string& source) {
  if (prefix.size() < kSafetensorsPrefix || file_size < kSafetensorsPrefix) {
    throw DataError("[checkpoint] ", printable(source), ": not a safetensors file: shorter than ", kSafetensorsPrefix,
                    " bytes");
  }
  std::uint64_t length = 0;
  for (std::size_t i = kSafetensorsPrefix; i-- > 0;) length = length << 8U | std::to_integer<std::uint64_t>(prefix[i]);
  if (length > kMostHeaderBytes) {
    throw DataError("[checkpoint] ", printable(source), ": not a safetensors file: header of ", length,
                    " bytes, limit ", kMostHeaderBytes);
  }
  if (length > file_size - kSafetensorsPrefix) {
    throw DataError("[checkpoint] ", printable(source), ": cut off: header of ", length, " bytes in a file of ",
                    file_size);
  }
  return kSafetensorsPrefix + length;
}

SafetensorsHeader read_safetensors_header(std::string_view json, std::uint64_t header_size, std::uint64_t file_size,
                                          const std::string& source) {
  TITAN_CHECK(header_size == kSafetensorsPrefix + json.size() && header_size <= file_size, "header and its size");
  if (json.empty() || json.front() != '{') {
    throw DataError("[checkpoint] ", printable(source), ": not a safetensors file: header does not begin with {");
  }
  if (json.find('\0') != std::string_view::npos) {  // the parser takes it for the end of the text
    throw DataError("[checkpoint] ", printable(source), ": header is not valid JSON: a NUL in it");
  }
  HeaderReader reader(json, source);
  nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &reader);
  SafetensorsHeader header = std::move(reader).take();
  check_names(header.entries, source);
  std::sort(header.entries.begin(), header.entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  place_entries(header.entries, header_size, file_size - header_size, source);
  header.file_size = file_size;
  return header;
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) {
  const InputFile file = open_patiently(path);
  std::array<char, kSafetensorsPrefix> prefix{};
  if (file.size() >= prefix.size()) file.read_at(0, prefix);
  const std::uint64_t size = safetensors_header_size(std::as_bytes(std::span(prefix)), file.size(), path.native());
  std::string json(static_cast<std::size_t>(size - kSafetensorsPrefix), '\0');
  file.read_at(kSafetensorsPrefix, json);
  return read_safetensors_header(json, size, file.size(), path.native());
}

}  // namespace titan::checkpoint
