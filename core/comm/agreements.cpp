#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "core/comm/group.hpp"

namespace titan::comm {

// Buffers are tensors of their own, not views of the caller's memory: when a wait fails, the call may still go on.

void sum_over(Group& group, std::vector<double>& values) {
  const at::Tensor sums = at::empty({static_cast<std::int64_t>(values.size())}, at::kDouble);
  std::copy(values.begin(), values.end(), sums.data_ptr<double>());
  group.all_reduce(sums)->wait();
  std::copy_n(sums.data_ptr<double>(), values.size(), values.begin());
}

std::vector<std::string> gather_texts(Group& group, const std::string& text) {
  const std::int64_t ranks = group.size();
  const at::Tensor all_lengths = at::empty({ranks}, at::kLong);
  group.all_gather(all_lengths, at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong))->wait();
  const auto* first = all_lengths.data_ptr<std::int64_t>();
  const std::vector<std::int64_t> lengths(first, first + ranks);

  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const at::Tensor mine = at::zeros({longest}, at::kByte);
  const at::Tensor all = at::empty({ranks * longest}, at::kByte);
  if (!text.empty()) std::memcpy(mine.data_ptr(), text.data(), text.size());
  group.all_gather(all, mine)->wait();

  std::vector<std::string> texts;
  const char* bytes = static_cast<const char*>(all.data_ptr());
  for (const std::int64_t size : lengths) {
    texts.emplace_back(bytes, static_cast<std::size_t>(size));
    bytes += longest;
  }
  return texts;
}

}  // namespace titan::comm
