#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/comm/arguments.hpp"
#include "core/comm/channel.hpp"
#include "core/comm/group.hpp"

namespace titan::comm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;
using Rows = std::vector<std::int64_t>;

/// Where a call came from: its backward talks to the same ranks, for the same module.
struct Origin : torch::CustomClassHolder {
  Origin(const std::string& name, std::shared_ptr<Channel> channel_of_group)
      : group(name, channel_of_group), channel(std::move(channel_of_group)), module(channel->module()) {}

  Group group;
  std::shared_ptr<Channel> channel;
  std::string module;
};
using OriginPointer = c10::intrusive_ptr<Origin>;

/// Names an origin's module in the records of the calls made meanwhile.
class ModuleScope {
 public:
  explicit ModuleScope(Origin& origin) : channel_(*origin.channel), before_(channel_.exchange_module(origin.module)) {}
  ~ModuleScope() { channel_.exchange_module(std::move(before_)); }
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  Channel& channel_;
  std::string before_;
};

void keep(AutogradContext* context, const OriginPointer& origin) {
  context->saved_data["origin"] = at::IValue::make_capsule(origin);
}

Origin& kept(AutogradContext* context) { return static_cast<Origin&>(*context->saved_data["origin"].toCapsule()); }

at::Tensor gather(Group& group, const at::Tensor& in, std::int64_t dim) {
  const at::Tensor part = in.movedim(dim, 0).contiguous();
  std::vector<std::int64_t> sizes = part.sizes().vec();
  sizes[0] *= group.size();
  const at::Tensor whole = at::empty(sizes, part.options());
  group.all_gather(whole, part)->wait();
  return whole.movedim(0, dim).contiguous();
}

at::Tensor scatter(Group& group, const at::Tensor& in, std::int64_t dim) {
  const at::Tensor whole = in.movedim(dim, 0).contiguous();
  std::vector<std::int64_t> sizes = whole.sizes().vec();
  sizes[0] /= group.size();
  const at::Tensor part = at::empty(sizes, whole.options());
  group.reduce_scatter(part, whole)->wait();
  return part.movedim(0, dim).contiguous();
}

class AllReduce : public Function<AllReduce> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& in, const OriginPointer& origin) {
    keep(context, origin);
    const at::Tensor sum = in.clone(at::MemoryFormat::Contiguous);
    origin->group.all_reduce(sum)->wait();
    return sum;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    Origin& origin = kept(context);
    const ModuleScope scope(origin);
    return {origin.group.differentiable_all_reduce(gradients[0]), {}};
  }
};

class AllGather : public Function<AllGather> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& in, const OriginPointer& origin,
                            std::int64_t dim) {
    keep(context, origin);
    context->saved_data["dim"] = dim;
    return gather(origin->group, in, dim);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    Origin& origin = kept(context);
    const ModuleScope scope(origin);
    return {origin.group.differentiable_reduce_scatter(gradients[0], context->saved_data["dim"].toInt()), {}, {}};
  }
};

class ReduceScatter : public Function<ReduceScatter> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& in, const OriginPointer& origin,
                            std::int64_t dim) {
    keep(context, origin);
    context->saved_data["dim"] = dim;
    return scatter(origin->group, in, dim);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    Origin& origin = kept(context);
    const ModuleScope scope(origin);
    return {origin.group.differentiable_all_gather(gradients[0], context->saved_data["dim"].toInt()), {}, {}};
  }
};

class AllToAll : public Function<AllToAll> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& in, const OriginPointer& origin,
                            const Rows& out_rows, const Rows& in_rows) {
    keep(context, origin);
    context->saved_data["out_rows"] = out_rows;
    context->saved_data["in_rows"] = in_rows;
    const at::Tensor sent = in.contiguous();
    std::vector<std::int64_t> sizes = sent.sizes().vec();
    sizes[0] = 0;
    for (const std::int64_t rows : out_rows) sizes[0] += rows;
    const at::Tensor received = at::empty(sizes, sent.options());
    origin->group.all_to_all(received, sent, out_rows, in_rows)->wait();
    return received;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    Origin& origin = kept(context);
    const ModuleScope scope(origin);
    const Rows out_rows = context->saved_data["out_rows"].toIntVector();
    const Rows in_rows = context->saved_data["in_rows"].toIntVector();
    return {origin.group.differentiable_all_to_all(gradients[0], in_rows, out_rows), {}, {}, {}};
  }
};

}  // namespace

at::Tensor Group::differentiable_all_reduce(const at::Tensor& in) {
  check_defined({name_, size(), rank()}, "all_reduce", in);
  return AllReduce::apply(in, c10::make_intrusive<Origin>(name_, channel_));
}

at::Tensor Group::differentiable_all_gather(const at::Tensor& in, std::int64_t dim) {
  const std::int64_t along = checked_dim({name_, size(), rank()}, "_allgather_base", in, dim);
  return AllGather::apply(in, c10::make_intrusive<Origin>(name_, channel_), along);
}

at::Tensor Group::differentiable_reduce_scatter(const at::Tensor& in, std::int64_t dim) {
  const CallPlace place{name_, size(), rank()};
  const std::int64_t along = checked_dim(place, "_reduce_scatter_base", in, dim);
  check_divisible(place, "_reduce_scatter_base", in, along);
  return ReduceScatter::apply(in, c10::make_intrusive<Origin>(name_, channel_), along);
}

at::Tensor Group::differentiable_all_to_all(const at::Tensor& in, Rows out_rows, Rows in_rows) {
  const CallPlace place{name_, size(), rank()};
  checked_dim(place, "alltoall_base", in, 0);
  return AllToAll::apply(in, c10::make_intrusive<Origin>(name_, channel_), out_rows, in_rows);
}

}  // namespace titan::comm
