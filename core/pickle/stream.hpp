#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/files.hpp"
#include "core/pickle/document.hpp"
#include "core/pickle/texts.hpp"

namespace titan::pickle {

/// What a stream keeps of a value: the value, or the number that the listener made of a list, tuple or dict.
struct Item {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, made };
  Kind kind = Kind::none;
  std::uint64_t bits = 0;  // of a text: its number

  bool is_integer() const { return kind == Kind::integer; }
  bool is_text() const { return kind == Kind::text; }
  bool is_made() const { return kind == Kind::made; }
  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
  std::uint32_t text() const { return static_cast<std::uint32_t>(bits); }
};

/// A list, tuple or dict whose items are all there. Valid during the call only.
struct Finished {
  Kind kind = Kind::list;            // list, tuple or dict
  std::uint32_t key = Texts::kNone;  // of the dict's member that it is in, maybe in lists of it
  std::span<const Item> items;       // keys and values of a dict take turns
};

/// Told every list, tuple and dict of a stream, the inner before the outer. Returns a number to stand for it.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual std::uint64_t finished(const Finished& container) = 0;
};

/// Reads a pickle of plain values (none, booleans, 64-bit integers, reals, texts, lists, tuples, dicts; protocols 2 to
/// 5) without holding it: of a container only what the listener made of it stays. Texts get their numbers in `texts`.
/// Returns the root. DataError names the file and the place: anything else in it, values that do not fit, containers
/// within themselves or nested more than 64 deep, more values at a time than a writer would make for such a size, bytes
/// left over. InputError and IoError as a file's. No recursion, and memory of five times the file at most, of large
/// ones by far less.
Item read_stream(const FileReader& file, Texts& texts, Listener& listener);
/// The same of bytes in memory; `source` names them.
Item read_stream(std::string_view bytes, const std::string& source, Texts& texts, Listener& listener);

}  // namespace titan::pickle
