#include "core/data/json_line.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/base/text.hpp"

namespace titan::data {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 512;

/// Takes the parser's events and keeps the string of the member "text" of the outermost object: no tree is built.
class TextFinder : public nlohmann::json_sax<json> {
 public:
  std::optional<std::string> text;

  bool null() override { return value("null"); }
  bool boolean(bool /*flag*/) override { return value("a boolean"); }
  bool number_integer(number_integer_t /*number*/) override { return value("a number"); }
  bool number_unsigned(number_unsigned_t /*number*/) override { return value("a number"); }
  bool number_float(number_float_t /*number*/, const string_t& /*text*/) override { return value("a number"); }
  bool binary(binary_t& /*bytes*/) override { return value("binary data"); }
  bool string(string_t& found) override {
    if (depth_ == 1 && is_text_) {
      text = std::move(found);
      return true;
    }
    return value("a string");
  }
  bool key(string_t& name) override {
    if (depth_ == 1) is_text_ = name == "text";
    return true;
  }
  bool start_object(std::size_t /*count*/) override { return open("an object"); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*count*/) override {
    if (depth_ == 0) value("an array");
    return open("an array");
  }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t column, const std::string& /*last*/, const json::exception& error) override {
    const std::string what = error.what();
    const std::size_t colon = what.find(": ");
    const std::string reason = colon == std::string::npos ? what : what.substr(colon + 2);
    throw std::invalid_argument(concat("column ", column, ": ", shortened(printable(reason), 300)));
  }

 private:
  bool value(std::string_view found) const {
    if (depth_ == 0) throw std::invalid_argument(concat("expected an object with a string \"text\": found ", found));
    if (depth_ == 1 && is_text_) throw std::invalid_argument(concat("\"text\" is not a string: found ", found));
    return true;
  }
  bool open(std::string_view kind) {
    if (depth_ > 0) value(kind);
    if (++depth_ > kMaxDepth) throw std::invalid_argument(concat("nested too deeply: limit ", kMaxDepth));
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  bool is_text_ = false;
};

}  // namespace

std::string text_of_json_line(std::string_view line) {
  TextFinder finder;
  json::sax_parse(line, &finder);
  if (!finder.text) throw std::invalid_argument("the object has no member \"text\"");
  return std::move(*finder.text);
}

}  // namespace titan::data
