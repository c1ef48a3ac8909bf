#include "core/pickle/pieces.hpp"

#include <algorithm>

namespace titan::pickle {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;

}  // namespace

std::string_view Pieces::more(std::string_view rest, std::size_t wanted) {
  window_.erase(0, window_.size() - rest.size());
  while (window_.size() < std::max<std::size_t>(wanted, 1)) {
    const std::size_t had = window_.size();
    window_.resize(had + kPiece);
    const std::size_t got = file_.read(window_.data() + had, kPiece);
    window_.resize(had + got);
    if (got == 0) break;
  }
  return window_;
}

}  // namespace titan::pickle
