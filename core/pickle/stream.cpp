#include "core/pickle/stream.hpp"

#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/pickle/opcode_reader.hpp"

namespace titan::pickle {
namespace {

// Lists, tuples and dicts within each other; snapshots have 8.
constexpr std::size_t kMostNested = 64;
// What a value, a memo or a text takes is 16 to 24 bytes: of a large file three times its size at most. Writers need
// more than 8 bytes for what stays at a time: an event's fields go, its place in a list stays.
constexpr std::uint64_t kFewestBytesAValue = 8, kFewValues = 4096;

/// A list or dict that may still grow.
struct Open {
  Kind kind = Kind::list;
  bool has_mark = false;  // items to come lie on the stack above a mark of its own
  std::uint32_t key = Texts::kNone;
  std::uint32_t memo = UINT32_MAX;
  std::size_t place = 0;  // on the stack
  std::vector<Item> items;
};

/// What a mark began.
struct Level {
  std::size_t begin = 0;  // on the stack
  std::uint32_t key = Texts::kNone;
  bool is_of_dict = false;
};

/// The stack machine that a pickle is a program for. Lists and dicts come empty and get their items later, so whether
/// one is complete shows when another takes it, or when more values than can be nested came after it.
class StreamReader : private OpcodeReader<StreamReader> {
 public:
  StreamReader(Cursor cursor, std::uint64_t size, Texts& texts, Listener& listener)
      : OpcodeReader(cursor), texts_(texts), listener_(listener), most_(size / kFewestBytesAValue + kFewValues) {
    levels_.emplace_back();
  }

  Item read() {
    read_all();
    complete(0);
    return stack_.front();
  }

 private:
  friend class OpcodeReader<StreamReader>;
  // On the stack and in the memo only: `bits` is the number of an Open.
  static constexpr Item::Kind kOpen = static_cast<Item::Kind>(255);

  bool is_whole() const { return stack_.size() == 1 && levels_.size() == 1; }
  void frame(std::uint64_t /*size*/) const {}
  std::size_t num_memos() const { return memo_.size(); }
  [[noreturn]] void read_other(unsigned char opcode) const {
    cursor_.fail("an opcode that plain values do not need: ", static_cast<unsigned>(opcode));
  }

  // Values.

  void push(Item item) {
    if (stack_.size() + num_kept_ >= most_) cursor_.fail("too many values");
    stack_.push_back(item);
    const std::size_t above = stack_.size() - levels_.back().begin;
    if (above > kMostNested) complete(stack_.size() - 1 - kMostNested);
  }

  void push_integer(std::int64_t number) { push({Item::Kind::integer, static_cast<std::uint64_t>(number)}); }

  void push_none() { push({}); }
  void push_boolean(bool value) { push({Item::Kind::boolean, value ? 1U : 0U}); }
  void push_real(std::uint64_t bits) { push({Item::Kind::real, bits}); }
  void push_empty_tuple() { push_tuple(stack_.size()); }

  void push_text(std::string_view text) {
    const std::uint32_t number = texts_.number(text);
    if (texts_.size() >= most_) cursor_.fail("too many texts");
    push({Item::Kind::text, number});
  }

  /// The key of the member that a container is in which lies on the stack at `place`, a new one at its end.
  std::uint32_t key_at(std::size_t place) const {
    const Level& level = levels_.back();
    const std::size_t count = place - level.begin;
    if (count == 0) return level.key;
    const Item& top = stack_[place - 1];
    if (top.kind == kOpen) return open_[static_cast<std::size_t>(top.bits)].key;
    const bool is_a_value = level.is_of_dict && count % 2 == 1;
    if (!top.is_text()) return level.is_of_dict ? Texts::kNone : level.key;
    const bool is_of_dict_below = count >= 2 && is_open(place - 2, Kind::dict);
    return is_of_dict_below || is_a_value ? top.text() : level.key;
  }

  bool is_open(std::size_t place, Kind kind) const {
    return stack_[place].kind == kOpen && open_[static_cast<std::size_t>(stack_[place].bits)].kind == kind;
  }

  void push_empty(Kind kind) {
    const std::uint32_t key = key_at(stack_.size());
    std::size_t number = open_.size();
    if (free_.empty()) {
      open_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    Open& open = open_[number];
    open.kind = kind;
    open.has_mark = false;
    open.key = key;
    open.memo = UINT32_MAX;
    open.place = stack_.size();
    push({kOpen, number});
  }

  /// Tells the listener of the container at that place of the stack, when it is one that still is open.
  void complete(std::size_t place) {
    if (stack_[place].kind != kOpen) return;
    const auto number = static_cast<std::size_t>(stack_[place].bits);
    Open& open = open_[number];
    stack_[place] = {Item::Kind::made, listener_.finished({open.kind, open.key, open.items})};
    if (open.memo != UINT32_MAX) memo_[open.memo] = stack_[place];
    num_kept_ -= open.items.size();
    open.items.clear();
    free_.push_back(number);
  }

  void complete_from(std::size_t begin) {
    for (std::size_t i = begin; i < stack_.size(); ++i) complete(i);
  }

  void push_tuple(std::size_t begin) {
    complete_from(begin);
    const std::span<const Item> items(stack_.data() + begin, stack_.size() - begin);
    const std::uint64_t made = listener_.finished({Kind::tuple, key_at(begin), items});
    stack_.resize(begin);
    push({Item::Kind::made, made});
  }

  /// Moves what lies on the stack from `begin` on into the list or dict below it.
  void extend(Kind kind, std::size_t begin) {
    if (begin == levels_.back().begin) cursor_.fail("there is nothing to add to");
    if (!is_open(begin - 1, kind)) cursor_.fail("only a ", kind == Kind::list ? "list" : "dict", " can be added to");
    if (kind == Kind::dict && (stack_.size() - begin) % 2 != 0) cursor_.fail("a key without a value");
    complete_from(begin);
    Open& target = open_[static_cast<std::size_t>(stack_[begin - 1].bits)];
    num_kept_ += stack_.size() - begin;
    target.items.insert(target.items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
  }

  // Marks.

  void begin_mark() {
    if (levels_.size() > kMostNested) cursor_.fail("marks are nested too deeply");
    Level level{stack_.size(), key_at(stack_.size()), false};
    if (!stack_.empty() && stack_.size() > levels_.back().begin && stack_.back().kind == kOpen) {
      Open& open = open_[static_cast<std::size_t>(stack_.back().bits)];
      open.has_mark = true;
      level.is_of_dict = open.kind == Kind::dict;
    }
    levels_.push_back(level);
  }

  std::size_t pop_mark() {
    if (levels_.size() == 1) cursor_.fail("there is no mark");
    const std::size_t begin = levels_.back().begin;
    levels_.pop_back();
    if (begin > levels_.back().begin && stack_[begin - 1].kind == kOpen) {
      open_[static_cast<std::size_t>(stack_[begin - 1].bits)].has_mark = false;
    }
    return begin;
  }

  /// Where the uppermost `count` values begin on the stack.
  std::size_t below_top(std::size_t count) const {
    if (stack_.size() - levels_.back().begin < count) cursor_.fail("values are missing");
    return stack_.size() - count;
  }

  // Memo.

  void recall(std::uint64_t number) {
    if (number >= memo_.size()) cursor_.fail("an unknown memo ", number);
    const Item& item = memo_[static_cast<std::size_t>(number)];
    if (item.kind == kOpen) {
      const Open& open = open_[static_cast<std::size_t>(item.bits)];
      if (open.has_mark) cursor_.fail("a list or dict is within itself");
      complete(open.place);
    }
    push(item);
  }

  void remember(std::uint64_t number) {
    // Writers number what they keep, each once.
    if (number != memo_.size()) cursor_.fail("memo ", number, " is out of order");
    if (memo_.size() >= most_) cursor_.fail("too many memos");
    const Item& item = stack_[below_top(1)];
    if (item.kind == kOpen) {
      std::uint32_t& memo = open_[static_cast<std::size_t>(item.bits)].memo;
      if (memo != UINT32_MAX) cursor_.fail("a list or dict is kept twice");
      memo = static_cast<std::uint32_t>(number);
    }
    memo_.push_back(item);
  }

  Texts& texts_;
  Listener& listener_;
  std::uint64_t most_, num_kept_ = 0;  // items in open containers
  std::vector<Item> stack_, memo_;
  std::vector<Level> levels_;  // the first of them has no mark
  std::vector<Open> open_;
  std::vector<std::size_t> free_;  // numbers in open_
};

}  // namespace

Item read_stream(const FileReader& file, Texts& texts, Listener& listener) {
  Pieces pieces(file);
  const std::string source = file.path().native();
  return StreamReader(Cursor(pieces, source), file.size(), texts, listener).read();
}

Item read_stream(std::string_view bytes, const std::string& source, Texts& texts, Listener& listener) {
  return StreamReader(Cursor(bytes, source), bytes.size(), texts, listener).read();
}

}  // namespace titan::pickle
