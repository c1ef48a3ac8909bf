#include "core/base/json_pieces.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace titan {

namespace {

using nlohmann::json;

/// Builds values from the parser's events and hands them over. Errors are thrown through the parser.
class PieceReader {
 public:
  PieceReader(std::string_view text, std::string_view source, const JsonPiece& piece, const JsonPieceLimits& limits)
      : text_(text), source_(source), piece_(piece), limits_(limits) {}

  json take() && { return std::move(root_); }

  // What the parser calls.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(json::binary_t& value) { return put(std::move(value)); }
  bool start_object(std::size_t /*size*/) { return begin(json::object()); }
  bool end_object() { return end(); }
  bool start_array(std::size_t /*size*/) { return begin(json::array()); }
  bool end_array() { return end(); }

  bool key(std::string& name) {
    Open& object = open_.back();
    if (object.value.contains(name) || object.taken.contains(name)) {
      throw DataError("[json] ", printable(source_), ": a name is twice in an object: ", printable(name));
    }
    path_.push_back(std::move(name));
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const json::exception& error) const {
    const TextPosition at = position_of(text_, position == 0 ? 0 : position - 1);
    const std::string what = error.what();
    const std::size_t colon = what.find(": ");
    throw DataError("[json] ", printable(source_), ":", at.line, ":", at.column, ": ",
                    printable(colon == std::string::npos ? what : what.substr(colon + 2)));
  }

 private:
  /// An object or array that has not ended.
  struct Open {
    json value;
    std::size_t kept_before;
    std::set<std::string> taken;  // names of members that are not in the value
  };

  bool begin(json empty) {
    if (open_.size() == limits_.depth) {
      throw DataError("[json] ", printable(source_), ": nested too deeply: limit ", limits_.depth);
    }
    open_.push_back({std::move(empty), kept_, {}});
    return true;
  }

  bool end() {
    json value = std::move(open_.back().value);
    const std::size_t kept_before = open_.back().kept_before;
    open_.pop_back();
    if (piece_ && piece_(path_, value)) {
      kept_ = kept_before;
      if (is_in_object()) open_.back().taken.insert(path_.back());
      leave_member();
      return true;
    }
    return put(std::move(value));
  }

  bool put(json value) {
    if (++kept_ > limits_.kept) {
      throw DataError("[json] ", printable(source_), ": more values than allowed: limit ", limits_.kept);
    }
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else {
      open_.back().value.emplace(path_.back(), std::move(value));
    }
    leave_member();
    return true;
  }

  bool is_in_object() const { return !open_.empty() && open_.back().value.is_object(); }

  void leave_member() {
    if (is_in_object()) path_.pop_back();
  }

  std::string_view text_, source_;
  const JsonPiece& piece_;
  JsonPieceLimits limits_;
  std::size_t kept_ = 0;
  std::vector<Open> open_;
  std::vector<std::string> path_;
  json root_;
};

}  // namespace

json parse_json_in_pieces(std::string_view text, std::string_view source, const JsonPiece& piece,
                          const JsonPieceLimits& limits) {
  if (text.size() > limits.bytes) {
    throw DataError("[json] ", printable(source), ": larger than allowed: limit ", limits.bytes, " bytes");
  }
  if (text.find('\0') != std::string_view::npos) {  // the parser takes it for the end of the text
    throw DataError("[json] ", printable(source), ": a NUL in the text");
  }
  PieceReader reader(text, source, piece, limits);
  json::sax_parse(text.data(), text.data() + text.size(), &reader);
  return std::move(reader).take();
}

json parse_strict_json(std::string_view text, std::string_view source, const JsonPieceLimits& limits) {
  return parse_json_in_pieces(text, source, nullptr, limits);
}

}  // namespace titan
