#include "core/comm/witness.hpp"

#include <exception>
#include <utility>

#include "core/base/log.hpp"

namespace titan::comm {

void WitnessStand::set(Witness witness) {
  const std::scoped_lock lock(place_mutex_, trouble_mutex_);
  witness_ = std::move(witness);
}

std::string WitnessStand::place() const {
  const std::lock_guard lock(place_mutex_);
  return witness_.place ? witness_.place() : std::string();
}

void WitnessStand::report(std::int32_t cause, std::string_view reason) noexcept {
  try {
    const std::lock_guard lock(trouble_mutex_);
    if (first_cause_ == 0) first_cause_ = cause;
    if (witness_.trouble) witness_.trouble(first_cause_, reason);
  } catch (const std::exception& error) {
    log_warning("comm", "what is known cannot be written down: ", error.what());
  }
}

}  // namespace titan::comm
