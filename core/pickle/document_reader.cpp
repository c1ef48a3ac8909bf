#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/pickle/document.hpp"
#include "core/pickle/opcode_reader.hpp"

namespace titan::pickle {
namespace {

// Positions and numbers of values have 32 bits.
constexpr std::size_t kMostBytes = std::size_t{1} << 31U;
// Marks within marks: PyTorch's have 5.
constexpr std::size_t kMostMarks = 64;
constexpr std::size_t kMostNameBytes = 128;
// A value takes 16 bytes and its places in others some 12 more, a list or dict 60 besides. With these bounds that is
// ten times as much as the bytes of the pickle at most; PyTorch's take 5 or more for a value, and 40 for a list.
constexpr std::size_t kFewestBytesAValue = 4, kFewestBytesAList = 16;
constexpr std::size_t kFewValues = 64;  // however short the pickle is

constexpr std::string_view kOrderedDict = "collections.OrderedDict";

}  // namespace

class DocumentReader : private OpcodeReader<DocumentReader> {
 public:
  /// The document's: it does not move while it is read.
  DocumentReader(Document& pickle, const std::string& source)
      : OpcodeReader(Cursor(pickle.bytes_, source)), pickle_(pickle) {
    for (const Document::Node& node : {Document::Node{}, Document::Node{Kind::boolean, 0, 0},
                                       Document::Node{Kind::boolean, 0, 1}, Document::Node{Kind::tuple, 0, 0}}) {
      pickle_.nodes_.push_back(node);
    }
  }

  void read() {
    if (pickle_.bytes_.size() > kMostBytes) cursor_.fail("it is too long");
    read_all();
    pickle_.root_ = stack_.front();
  }

 private:
  friend class OpcodeReader<DocumentReader>;
  // The first values of every pickle; shared, because they cannot change.
  static constexpr std::uint32_t kNoneNode = 0, kFalseNode = 1, kTrueNode = 2, kEmptyTupleNode = 3;

  bool is_whole() const { return stack_.size() == 1 && marks_.empty(); }
  void frame(std::uint64_t size) const {
    if (size > cursor_.remaining()) cursor_.fail("a frame ends behind the pickle");
  }

  void read_other(unsigned char opcode) {
    if (!read_bytes(opcode) && !read_named(opcode)) cursor_.fail("unknown opcode ", static_cast<unsigned>(opcode));
  }

  bool read_bytes(unsigned char opcode) {
    switch (opcode) {
      case kShortBinBytes:
        push_string(Kind::bytes, cursor_.take_string(1));
        return true;
      case kBinBytes:
        push_string(Kind::bytes, cursor_.take_string(4));
        return true;
      case kBinBytes8:
        push_string(Kind::bytes, cursor_.take_string(8));
        return true;
      default:
        return false;
    }
  }

  bool read_named(unsigned char opcode) {
    switch (opcode) {
      case kGlobal:
        push_global();
        return true;
      case kStackGlobal:
        push_stack_global();
        return true;
      case kReduce:
        push_call();
        return true;
      case kNewObj:
        push_object();
        return true;
      case kBuild:
        set_state();
        return true;
      case kBinPersId:
        push({Kind::persistent, 0, pop()});
        return true;
      default:
        return false;
    }
  }

  // Values.

  void push_known(std::uint32_t index) { stack_.push_back(index); }

  void push(const Document::Node& node) {
    if (pickle_.nodes_.size() > pickle_.bytes_.size() / kFewestBytesAValue + kFewValues) {
      cursor_.fail("too many values");
    }
    pickle_.nodes_.push_back(node);
    push_known(static_cast<std::uint32_t>(pickle_.nodes_.size() - 1));
  }

  void push_integer(std::int64_t number) { push({Kind::integer, 0, static_cast<std::uint64_t>(number)}); }

  void push_none() { push_known(kNoneNode); }
  void push_boolean(bool value) { push_known(value ? kTrueNode : kFalseNode); }
  void push_real(std::uint64_t bits) { push({Kind::real, 0, bits}); }
  void push_text(std::string_view text) { push_string(Kind::text, text); }
  void push_empty(Kind kind) { push({kind, 0, 0}); }
  void push_empty_tuple() { push_known(kEmptyTupleNode); }

  void push_string(Kind kind, std::string_view string) {
    push({kind, static_cast<std::uint32_t>(string.data() - pickle_.bytes_.data()), string.size()});
  }

  /// Where the uppermost `count` values begin on the stack.
  std::size_t below_top(std::size_t count) const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) cursor_.fail("values are missing");
    return stack_.size() - count;
  }

  void begin_mark() {
    if (marks_.size() == kMostMarks) cursor_.fail("marks are nested too deeply");
    marks_.push_back(stack_.size());
  }

  std::size_t pop_mark() {
    if (marks_.empty()) cursor_.fail("there is no mark");
    const std::size_t begin = marks_.back();
    marks_.pop_back();
    return begin;
  }

  std::uint32_t pop() {
    const std::uint32_t index = stack_[below_top(1)];
    stack_.pop_back();
    return index;
  }

  Document::Node& node(std::uint32_t index) { return pickle_.nodes_[index]; }

  void push_tuple(std::size_t begin) {
    std::vector<std::uint32_t>& items = pickle_.tuple_items_;
    const Document::Node tuple{Kind::tuple, static_cast<std::uint32_t>(items.size()), stack_.size() - begin};
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
    push(tuple);
  }

  /// Moves what lies on the stack from `begin` on into the list or dict below it.
  void extend(Kind kind, std::size_t begin) {
    if (begin == (marks_.empty() ? 0 : marks_.back())) cursor_.fail("there is nothing to add to");
    Document::Node& target = node(stack_[begin - 1]);
    if (target.kind != kind) cursor_.fail("only a ", kind == Kind::list ? "list" : "dict", " can be added to");
    const std::size_t count = stack_.size() - begin;
    if (kind == Kind::dict && count % 2 != 0) cursor_.fail("a key without a value");
    if (count != 0 && target.second == 0) {
      target.first = static_cast<std::uint32_t>(pickle_.list_items_.size());
      target.second = 1;
      if (pickle_.list_items_.size() > pickle_.bytes_.size() / kFewestBytesAList + kFewValues) {
        cursor_.fail("too many lists");
      }
      pickle_.list_items_.emplace_back();
    }
    if (count != 0) {
      std::vector<std::uint32_t>& items = pickle_.list_items_[target.first];
      items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    }
    stack_.resize(begin);
  }

  // Names.

  void push_name(std::string_view module, std::string_view name) {
    const auto is_it = [&](std::string_view known) {
      return known.size() == module.size() + 1 + name.size() && known.starts_with(module) &&
             known[module.size()] == '.' && known.ends_with(name);
    };
    const auto found = std::find_if(pickle_.allowed_.begin(), pickle_.allowed_.end(), is_it);
    if (found == pickle_.allowed_.end()) {
      cursor_.fail("it names what does not belong here: ", printable(shortened(module, kMostNameBytes)), ".",
                   printable(shortened(name, kMostNameBytes)));
    }
    push({Kind::name, static_cast<std::uint32_t>(found - pickle_.allowed_.begin()), 0});
  }

  void push_global() {
    const std::string_view module = cursor_.take_line();
    push_name(module, cursor_.take_line());
  }

  void push_stack_global() {
    const std::size_t begin = below_top(2);
    const auto module = Value(pickle_, stack_[begin]).text();
    const auto name = Value(pickle_, stack_[begin + 1]).text();
    if (!module || !name) cursor_.fail("a name is no text");
    stack_.resize(begin);
    push_name(*module, *name);
  }

  /// Takes a name and a tuple of arguments from the stack.
  std::pair<std::uint32_t, std::uint32_t> pop_call() {
    below_top(2);
    const std::uint32_t arguments = pop();
    const Document::Node& name = node(pop());
    if (name.kind != Kind::name) cursor_.fail("only what has a name can be called");
    if (node(arguments).kind != Kind::tuple) cursor_.fail("arguments are no tuple");
    return {name.first, arguments};
  }

  void push_call() {
    const auto [name, arguments] = pop_call();
    if (pickle_.allowed_[name] == kOrderedDict) {
      if (node(arguments).second != 0) cursor_.fail("an OrderedDict with arguments");
      return push({Kind::dict, 0, 0});
    }
    push({Kind::call, name, arguments});
  }

  void push_object() {
    const auto [name, arguments] = pop_call();
    push({Kind::object, name, arguments});
  }

  void set_state() {
    const std::size_t begin = below_top(2);
    const std::uint64_t state = stack_[begin + 1];
    Document::Node& object = node(stack_[begin]);
    if (object.kind != Kind::object || object.second >> 32U != 0) cursor_.fail("only a new object gets a state");
    object.second |= state << 32U;
    stack_.pop_back();
  }

  // Memo.

  void recall(std::uint64_t number) {
    if (number >= memo_.size()) cursor_.fail("an unknown memo ", number);
    push_known(memo_[static_cast<std::size_t>(number)]);
  }

  void remember(std::uint64_t number) {
    // Writers number what they keep, each once.
    if (number != memo_.size() || number >= pickle_.nodes_.size()) cursor_.fail("memo ", number, " is out of order");
    memo_.push_back(stack_[below_top(1)]);
  }

  std::size_t num_memos() const { return memo_.size(); }

  Document& pickle_;
  std::vector<std::uint32_t> stack_, memo_;
  std::vector<std::size_t> marks_;  // sizes of the stack
};

Document Document::read(std::string bytes, std::span<const std::string_view> allowed, const std::string& source) {
  Document pickle(std::move(bytes), allowed);
  DocumentReader(pickle, source).read();
  return pickle;
}

}  // namespace titan::pickle
