#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace titan::pickle {

class Document;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  tuple,
  list,
  dict,
  name,       // of a class or function
  call,       // of a name with arguments; nobody makes it
  object,     // of a class that a name says, with a state
  persistent  // what only the writer of the pickle knows where to find
};

/// A value of a pickle, which must outlive it. Accessors give nothing for a value of another kind. Values may be shared
/// and may hold themselves, so whoever walks through them counts.
class Value {
 public:
  Value(const Document& pickle, std::uint32_t index) : pickle_(&pickle), index_(index) {}

  Kind kind() const;
  bool is_none() const { return kind() == Kind::none; }
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer() const;
  std::optional<double> real() const;
  std::optional<std::string_view> text() const;
  std::optional<std::string_view> bytes() const;

  /// Number of items of a tuple, list or dict; 0 of others.
  std::size_t size() const;
  /// An item of a tuple or list, or a value of a dict. `at` is below size().
  Value item(std::size_t at) const;
  /// A key of a dict.
  Value key(std::size_t at) const;

  /// The name, with its module: of a name, of what a call calls, of an object's class; else empty.
  std::string_view name() const;
  /// What a call or an object was given: a tuple. What stands for a persistent value.
  std::optional<Value> argument() const;
  /// An object's state; nothing when it has none.
  std::optional<Value> state() const;
  /// The value of a text key of a small dict, or of the state of an object, as classes have them.
  std::optional<Value> field(std::string_view key) const;

 private:
  const Document* pickle_;
  std::uint32_t index_;
};

/// A pickle that was read and not executed: classes and functions are names, of an allow-list, and calls of them are
/// values that say so.
class Document {
 public:
  /// Reads protocols 2 to 5, as far as PyTorch writes them. `allowed` names as "module.name" and outlives this.
  /// DataError names `source`: another name, an opcode that is not known, values that do not fit it, anything left
  /// over, more values or lists for its bytes than PyTorch's have. Takes memory of ten times the bytes at most, and no
  /// recursion.
  static Document read(std::string bytes, std::span<const std::string_view> allowed, const std::string& source);

  Value root() const { return {*this, root_}; }

 private:
  Document(std::string bytes, std::span<const std::string_view> allowed)
      : bytes_(std::move(bytes)), allowed_(allowed) {}

  friend class DocumentReader;
  friend class Value;

  /// What `first` and `second` are depends on the kind.
  struct Node {
    Kind kind = Kind::none;
    std::uint32_t first = 0;
    std::uint64_t second = 0;
  };

  std::string bytes_;
  std::span<const std::string_view> allowed_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> tuple_items_;             // of all tuples, one after the other
  std::deque<std::vector<std::uint32_t>> list_items_;  // of each list or dict that is not empty; keys and values
  std::uint32_t root_ = 0;
};

}  // namespace titan::pickle
