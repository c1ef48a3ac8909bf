#include "core/data/tokenizer_file.hpp"

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace titan::data {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 32;

/// Takes the parser's events: model.vocab and model.merges go straight into tables, all else becomes a JSON value.
class Reader : public nlohmann::json_sax<json> {
 public:
  Reader(TokenizerFile& file, std::string_view text, const std::string& name) : file_(file), text_(text), name_(name) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool flag) override { return value(flag); }
  bool number_integer(number_integer_t number) override { return value(number); }
  bool number_unsigned(number_unsigned_t number) override {
    return place_ == Place::vocab ? vocab_entry(number) : value(number);
  }
  bool number_float(number_float_t number, const string_t& /*text*/) override { return value(number); }
  bool binary(binary_t& /*bytes*/) override { return false; }
  bool string(string_t& text) override {
    if (place_ == Place::merges) return merge_line(text);
    if (place_ == Place::merge_pair) return merge_side(text);
    return value(text);
  }

  bool key(string_t& text) override {
    key_ = text;
    return true;
  }

  bool start_object(std::size_t /*count*/) override {
    const bool vocab = place_ == Place::elsewhere && in_model() && key_ == "vocab";
    if (place_ != Place::elsewhere) return wrong("an object");
    open(json::object());
    if (vocab) place_ = Place::vocab;
    return true;
  }
  bool end_object() override { return close(); }

  bool start_array(std::size_t /*count*/) override {
    if (place_ == Place::merges) {
      sides_ = 0;
      place_ = Place::merge_pair;
      return true;
    }
    const bool merges = place_ == Place::elsewhere && in_model() && key_ == "merges";
    if (place_ != Place::elsewhere) return wrong("an array");
    open(json::array());
    if (merges) place_ = Place::merges;
    return true;
  }
  bool end_array() override {
    if (place_ != Place::merge_pair) return close();
    if (sides_ != 2) fail("model.merges: not two tokens: merge ", file_.merges.size());
    place_ = Place::merges;
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& /*last*/, const nlohmann::json::exception& error) override {
    const TextPosition at = position_of(text_, offset > 0 ? offset - 1 : 0);
    const std::string what = error.what();
    const std::size_t colon = what.find(": ");
    throw DataError("[tokenizer] ", printable(name_), ":", at.line, ":", at.column, ": ",
                    shortened(printable(colon == std::string::npos ? what : what.substr(colon + 2)), 300));
  }

 private:
  enum class Place { elsewhere, vocab, merges, merge_pair };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError("[tokenizer] ", printable(name_), ": ", parts...);
  }

  bool in_model() const { return open_.size() == 2 && model_is_open_; }

  json& put(json&& item) {
    if (open_.empty()) return file_.sections = std::move(item);
    json& parent = *open_.back();
    if (parent.is_array()) return parent.emplace_back(std::move(item));
    return parent[key_] = std::move(item);
  }

  bool value(json&& item) {
    if (place_ != Place::elsewhere) return wrong(shortened(printable(item.dump()), 40));
    put(std::move(item));
    return true;
  }

  void open(json&& container) {
    if (open_.size() >= kMaxDepth) fail("nested too deeply: limit ", kMaxDepth);
    if (open_.size() == 1) model_is_open_ = key_ == "model" && container.is_object();
    open_.push_back(&put(std::move(container)));
  }

  bool close() {
    place_ = Place::elsewhere;
    open_.pop_back();
    return true;
  }

  bool wrong(std::string_view found) const {
    if (place_ == Place::vocab) {
      fail("model.vocab: expected an id from 0 to ", kMaxTokenId, ": token \"", shown(key_), "\", found ", found);
    }
    fail("model.merges: expected two tokens: merge ", file_.merges.size(), ", found ", found);
  }

  static std::string shown(std::string_view token) { return shortened(printable(token), 80); }

  bool vocab_entry(std::uint64_t id) {
    if (id > kMaxTokenId) return wrong(concat(id));
    if (!file_.vocab.insert(key_, static_cast<std::uint32_t>(id)))
      fail("model.vocab: token twice: \"", shown(key_), '"');
    return true;
  }

  bool merge_line(std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      fail("model.merges: not two tokens with one space between them: merge ", file_.merges.size(), ", \"", shown(line),
           '"');
    }
    file_.merges.append(line.substr(0, space));
    file_.merges.append(line.substr(space + 1));
    return true;
  }

  bool merge_side(std::string_view token) {
    if (++sides_ > 2) fail("model.merges: not two tokens: merge ", file_.merges.size());
    file_.merges.append(token);
    return true;
  }

  TokenizerFile& file_;
  std::string_view text_;
  const std::string& name_;
  std::vector<json*> open_;
  std::string key_;
  bool model_is_open_ = false;
  Place place_ = Place::elsewhere;
  int sides_ = 0;
};

}  // namespace

void MergeList::append(std::string_view text) {
  texts_ += text;
  ends_.push_back(texts_.size());
}

std::string_view MergeList::text(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(texts_).substr(begin, ends_[index] - begin);
}

TokenizerFile read_tokenizer_file(std::string_view text, const std::string& name) {
  TokenizerFile file;
  Reader reader(file, text, name);
  json::sax_parse(text, &reader);
  return file;
}

}  // namespace titan::data
