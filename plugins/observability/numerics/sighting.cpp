#include "plugins/observability/numerics/sighting.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

constexpr std::int64_t kNumbers = 5;

std::array<std::int64_t, kNumbers> numbers_of(const ComputationPlace& place) {
  return {place.kind, place.micro_batch, place.is_backward, place.stage, place.number};
}

ComputationPlace place_of(const std::int64_t* numbers) {
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
}

std::vector<ComputationPlace> gather(const strategy::Group& ranks, const ComputationPlace& mine) {
  if (ranks.size() == 1) return {mine};
  const auto numbers = numbers_of(mine);
  const at::Tensor in = at::tensor(at::ArrayRef<std::int64_t>(numbers), at::kLong);
  const at::Tensor out = at::empty({kNumbers * ranks.size()}, at::kLong);
  ranks.all_gather(out, in).wait();
  std::vector<ComputationPlace> places;
  for (std::int64_t rank = 0; rank < ranks.size(); ++rank) {
    places.push_back(place_of(out.const_data_ptr<std::int64_t>() + rank * kNumbers));
  }
  return places;
}

}  // namespace

AgreedSighting agree(const strategy::Group& ranks, const Sighting& mine) {
  const std::vector<ComputationPlace> places = gather(ranks, mine.place);
  AgreedSighting agreed{places.front(), 0, {}, {}};
  for (std::size_t rank = 1; rank < places.size(); ++rank) {
    if (places[rank] >= agreed.place) continue;
    agreed.place = places[rank];
    agreed.rank = static_cast<std::int64_t>(rank);
  }
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto number = static_cast<std::int64_t>(rank);
    if (number == agreed.rank || places[rank].kind == ComputationPlace::nowhere) continue;
    (places[rank] == agreed.place ? agreed.same_place : agreed.later).push_back(number);
  }
  return agreed;
}

std::string list_ranks(const std::vector<std::int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += sdk::concat(i == 0 ? "" : ", ", ranks[i]);
  return text;
}

}  // namespace titan::observability
