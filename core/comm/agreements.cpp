#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "core/comm/group.hpp"

namespace titan::comm {

void sum_over(Group& group, std::vector<double>& values) {
  group.all_reduce(at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kDouble))->wait();
}

std::vector<std::string> gather_texts(Group& group, const std::string& text) {
  const std::int64_t ranks = group.size();
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks));
  std::int64_t length = static_cast<std::int64_t>(text.size());
  group.all_gather(at::from_blob(lengths.data(), {ranks}, at::kLong), at::from_blob(&length, {1}, at::kLong))->wait();

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
