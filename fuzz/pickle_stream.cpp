#include "core/pickle/document.hpp"
#include "core/pickle/stream.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::pickle;

/// Counts what it is told, and what the containers hold.
class Counter : public Listener {
 public:
  std::uint64_t finished(const Finished& container) override {
    num_items_ += container.items.size();
    for (const Item& item : container.items) titan::fuzz::expect(!item.is_made() || item.bits < num_containers_);
    return num_containers_++;
  }

  std::uint64_t num_containers_ = 0, num_items_ = 0;
};

/// Whether a document that is no larger than this can be compared: shared values make it a graph.
bool is_same(const Value& value, const Item& item, const Texts& texts) {
  switch (item.kind) {
    case Item::Kind::none:
      return value.is_none();
    case Item::Kind::boolean:
      return value.boolean() == (item.bits != 0);
    case Item::Kind::integer:
      return value.integer() == item.integer();
    case Item::Kind::real:
      return value.kind() == Kind::real;
    case Item::Kind::text:
      return value.text() == texts[item.text()];
    default:
      return value.kind() == Kind::list || value.kind() == Kind::tuple || value.kind() == Kind::dict;
  }
}

/// What the stream takes, the reader of whole pickles takes too, and both see the same root; but for how much it may
/// take of memory.
void parse(std::string_view input) {
  Texts texts;
  Counter counter;
  const Item root = read_stream(input, "input", texts, counter);
  titan::fuzz::expect(texts.size() <= input.size());
  try {
    const Document document = Document::read(std::string(input), {}, "input");
    titan::fuzz::expect(is_same(document.root(), root, texts));
  } catch (const titan::DataError& error) {
    const std::string_view reason = error.what();
    titan::fuzz::expect(reason.find("too many") != std::string_view::npos ||
                        reason.find("a frame ends behind") != std::string_view::npos ||
                        reason.find("memo") != std::string_view::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
