#include "core/rehearsal/match_text.hpp"

#include "core/base/text.hpp"
#include "core/rehearsal/call_text.hpp"

namespace titan::rehearsal {
namespace {

std::string side_text(const Mismatch::Side& side) {
  return concat("rank ", side.rank, " calls ", side.call, module_text(side.module));
}

std::string split_text(const ModuleSplit& split) {
  if (split.number == 0) return {};
  const auto name = [](const std::string& module) { return module.empty() ? "no module" : printable(module); };
  return concat("; the modules differ from number ", split.number, " on: ", name(split.first), " and ",
                name(split.second));
}

}  // namespace

std::string collective_text(const Mismatch& found, const std::string& group, const std::vector<std::int64_t>& members,
                            std::uint64_t num_calls, const ModuleSplit& split) {
  const std::string place = concat("number ", found.number, " of ", printable(group), " (", ranks_text(members), "): ");
  if (found.what != Mismatch::What::missing) {
    return concat(place, side_text(found.first), "; ", side_text(found.second), split_text(split));
  }
  const bool is_first = !found.first.call.empty();
  const Mismatch::Side &caller = is_first ? found.first : found.second, &other = is_first ? found.second : found.first;
  return concat(place, side_text(caller), "; rank ", other.rank, " makes only ", num_calls,
                num_calls == 1 ? " call there" : " calls there", split_text(split));
}

std::string transfer_text(const Mismatch& found, const std::string& group) {
  const Mismatch::Side &sender = found.first, &receiver = found.second;
  const std::string place = concat("number ", found.number, " of ", printable(group), " from rank ", sender.rank,
                                   " to rank ", receiver.rank, ": ");
  if (receiver.call.empty()) {
    return concat(place, side_text(sender), "; rank ", receiver.rank, " does not receive it");
  }
  if (sender.call.empty()) return concat(place, side_text(receiver), "; rank ", sender.rank, " does not send it");
  return concat(place, side_text(sender), "; ", side_text(receiver));
}

}  // namespace titan::rehearsal
