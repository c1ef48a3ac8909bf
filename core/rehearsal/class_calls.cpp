#include "core/rehearsal/class_calls.hpp"

namespace titan::rehearsal {

void CallRow::add(std::uint32_t signature, std::uint32_t call) {
  signatures.push_back(signature);
  calls.push_back(call);
}

ClassCalls::ClassCalls(const Layout& layout, std::size_t rehearsed) : collectives(layout.kinds().size()) {
  const std::vector<TranslatedCall>& calls = layout.calls(rehearsed);
  for (const RehearsedEvent& event : layout.ranks()[rehearsed].events) {
    if (event.waits >= 0) continue;
    const TranslatedCall& call = calls[event.call];
    if (call.role == TranslatedCall::Role::collective) {
      collectives[call.kind].add(call.signature, event.call);
    } else {
      std::map<Route, CallRow>& side = call.role == TranslatedCall::Role::send ? sends : receives;
      side[{call.kind, call.steps}].add(call.signature, event.call);
    }
  }
}

}  // namespace titan::rehearsal
