#include "core/comm/threads/exchange.hpp"

#include <ATen/core/LegacyTypeDispatch.h>

#include <numeric>

#include "core/base/error.hpp"
#include "core/comm/description.hpp"
#include "core/comm/reduction.hpp"

namespace titan::comm {
namespace {

const char* reduce_name(Reduce op) { return op == Reduce::sum ? "sum" : op == Reduce::max ? "max" : "min"; }

/// Rows [index * n, (index + 1) * n) of dim 0, n of them in `part`.
at::Tensor part_of(const at::Tensor& whole, std::size_t index, const at::Tensor& part) {
  return whole.narrow(0, static_cast<std::int64_t>(index) * part.size(0), part.size(0));
}

void all_reduce(const std::vector<Share>& shares) {
  std::vector<at::Tensor> parts;
  for (const Share& share : shares) parts.push_back(share.in);
  const at::Tensor total = reduced(parts, shares.front().reduce);
  for (const Share& share : shares) share.out.copy_(total);
}

void all_gather(const std::vector<Share>& shares) {
  for (const Share& to : shares) {
    for (std::size_t from = 0; from < shares.size(); ++from) {
      const at::Tensor place = part_of(to.out, from, shares[from].in);
      if (place.data_ptr() != shares[from].in.data_ptr()) place.copy_(shares[from].in);
    }
  }
}

void reduce_scatter(const std::vector<Share>& shares) {
  for (std::size_t to = 0; to < shares.size(); ++to) {
    std::vector<at::Tensor> parts;
    for (const Share& share : shares) parts.push_back(part_of(share.in, to, shares[to].out));
    shares[to].out.copy_(reduced(parts, shares.front().reduce));
  }
}

std::int64_t first_row(const std::vector<std::int64_t>& rows, std::size_t position) {
  return std::accumulate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(position), std::int64_t{0});
}

void all_to_all(const std::vector<Share>& shares) {
  for (std::size_t to = 0; to < shares.size(); ++to) {
    for (std::size_t from = 0; from < shares.size(); ++from) {
      const std::int64_t rows = shares[from].in_rows[to];
      if (rows != shares[to].out_rows[from]) {
        throw PeerError("rows do not match: position ", from, " sends ", rows, " to position ", to, ", which expects ",
                        shares[to].out_rows[from]);
      }
      shares[to]
          .out.narrow(0, first_row(shares[to].out_rows, from), rows)
          .copy_(shares[from].in.narrow(0, first_row(shares[from].in_rows, to), rows));
    }
  }
}

void broadcast(const std::vector<Share>& shares) {
  const Share& root = shares[static_cast<std::size_t>(shares.front().root)];
  for (const Share& share : shares) {
    if (&share != &root) share.out.copy_(root.in);
  }
}

}  // namespace

std::string signature(const Share& share) {
  std::string text = share.op;
  if (share.op == "all_reduce" || share.op == "_reduce_scatter_base")
    text += concat(" (", reduce_name(share.reduce), ')');
  if (share.root >= 0) text += concat(" from position ", share.root);
  if (!share.in.defined()) return text;
  // The ranks of an all-to-all have different numbers of rows.
  if (share.op == "alltoall_base") return concat(text, " of rows like ", describe(share.in.narrow(0, 0, 0)));
  return concat(text, " of ", describe(share.in));
}

void exchange(const std::vector<Share>& shares) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const std::string& op = shares.front().op;
  if (op == "all_reduce") all_reduce(shares);
  if (op == "_allgather_base") all_gather(shares);
  if (op == "_reduce_scatter_base") reduce_scatter(shares);
  if (op == "alltoall_base") all_to_all(shares);
  if (op == "broadcast") broadcast(shares);
}

}  // namespace titan::comm
