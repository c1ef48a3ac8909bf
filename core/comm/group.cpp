#include "core/comm/group.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "core/base/error.hpp"
#include "core/comm/arguments.hpp"
#include "core/comm/channel.hpp"

namespace titan::comm {
namespace {

c10d::ReduceOp reduce_op(Reduce op) {
  switch (op) {
    case Reduce::sum:
      return c10d::ReduceOp::SUM;
    case Reduce::max:
      return c10d::ReduceOp::MAX;
    case Reduce::min:
      return c10d::ReduceOp::MIN;
  }
  throw PluginError("[comm] unknown reduction: number ", static_cast<std::int32_t>(op));
}

/// Copies without recording gradients or new versions, as the backends do.
void copy_into(const at::Tensor& out, const at::Tensor& in) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  out.copy_(in);
}

}  // namespace

Group::Group(std::string name, std::shared_ptr<Channel> channel)
    : name_(std::move(name)), channel_(std::move(channel)) {}

Group::~Group() = default;

std::int64_t Group::rank() const { return channel_->facts().position; }
std::int64_t Group::size() const { return channel_->size(); }
const std::vector<std::int64_t>& Group::members() const { return channel_->facts().members; }

WorkPtr Group::all_reduce(const at::Tensor& tensor, Reduce op) {
  const char* name = "all_reduce";
  check_in_place({name_, size(), rank()}, name, tensor);
  c10d::AllreduceOptions options;
  options.reduceOp = reduce_op(op);
  std::vector<at::Tensor> tensors{tensor};
  Channel::Start start;
  if (size() > 1 && tensor.numel() > 0)
    start = [&](c10d::Backend& backend) { return backend.allreduce(tensors, options); };
  return channel_->start(name_, {name, tensor, tensor}, start, nullptr);
}

WorkPtr Group::all_gather(const at::Tensor& out, const at::Tensor& in) {
  const char* name = "_allgather_base";
  check_parts({name_, size(), rank()}, name, out, in);
  at::Tensor whole = out, part = in;
  Channel::Start start;
  if (size() > 1 && in.numel() > 0)
    start = [&](c10d::Backend& backend) { return backend._allgather_base(whole, part); };
  return channel_->start(name_, {name, out, in}, start, [&] { copy_into(out, in); });
}

WorkPtr Group::reduce_scatter(const at::Tensor& out, const at::Tensor& in, Reduce op) {
  const char* name = "_reduce_scatter_base";
  check_parts({name_, size(), rank()}, name, in, out);
  c10d::ReduceScatterOptions options;
  options.reduceOp = reduce_op(op);
  at::Tensor part = out, whole = in;
  Channel::Start start;
  if (size() > 1 && out.numel() > 0) {
    start = [&](c10d::Backend& backend) { return backend._reduce_scatter_base(part, whole, options); };
  }
  return channel_->start(name_, {name, out, in}, start, [&] { copy_into(out, in); });
}

WorkPtr Group::all_to_all(const at::Tensor& out, const at::Tensor& in, std::vector<std::int64_t> out_rows,
                          std::vector<std::int64_t> in_rows) {
  const char* name = "alltoall_base";
  const CallPlace place{name_, size(), rank()};
  check_exchange(place, out, in);
  check_rows(place, name, out, out_rows);
  check_rows(place, name, in, in_rows);
  at::Tensor received = out, sent = in;
  Channel::Start start;
  if (size() > 1) {
    start = [&](c10d::Backend& backend) { return backend.alltoall_base(received, sent, out_rows, in_rows); };
  }
  return channel_->start(name_, {name, out, in}, start, [&] { copy_into(out, in); });
}

WorkPtr Group::broadcast(const at::Tensor& tensor, std::int64_t root) {
  const char* name = "broadcast";
  const CallPlace place{name_, size(), rank()};
  check_in_place(place, name, tensor);
  check_position(place, name, root, false);
  c10d::BroadcastOptions options;
  options.rootRank = root;
  std::vector<at::Tensor> tensors{tensor};
  Channel::Start start;
  if (size() > 1 && tensor.numel() > 0)
    start = [&](c10d::Backend& backend) { return backend.broadcast(tensors, options); };
  return channel_->start(name_, {name, tensor, tensor}, start, nullptr);
}

WorkPtr Group::send(const at::Tensor& tensor, std::int64_t peer, std::int64_t tag) {
  const CallPlace place{name_, size(), rank()};
  check_in_place(place, "send", tensor);
  check_position(place, "send", peer, true);
  std::vector<at::Tensor> tensors{tensor};
  return channel_->start(
      name_, {"send", {}, tensor, peer},
      [&](c10d::Backend& backend) { return backend.send(tensors, static_cast<int>(peer), static_cast<int>(tag)); },
      nullptr);
}

WorkPtr Group::receive(const at::Tensor& tensor, std::int64_t peer, std::int64_t tag) {
  const CallPlace place{name_, size(), rank()};
  check_in_place(place, "recv", tensor);
  check_position(place, "recv", peer, true);
  std::vector<at::Tensor> tensors{tensor};
  return channel_->start(
      name_, {"recv", tensor, {}, peer},
      [&](c10d::Backend& backend) { return backend.recv(tensors, static_cast<int>(peer), static_cast<int>(tag)); },
      nullptr);
}

void Group::barrier() {
  Channel::Start start;
  if (size() > 1) start = [](c10d::Backend& backend) { return backend.barrier(); };
  channel_->start(name_, {"barrier", {}, {}}, start, nullptr)->wait();
}

}  // namespace titan::comm
