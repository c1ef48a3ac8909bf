#include "core/comm/processes/testimony.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace titan::comm {
namespace {

/// Takes the next line off the text.
std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

std::string Answer::encode() const {
  return concat(printable(place), '\n', printable(waits), '\n', printable(stack), '\n', history.encode());
}

Answer Answer::decode(std::string_view text) {
  Answer answer;
  answer.place = take_line(text);
  answer.waits = take_line(text);
  answer.stack = take_line(text);
  answer.history = CallHistory::decode(text);
  return answer;
}

}  // namespace titan::comm
