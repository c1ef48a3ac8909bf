#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "core/tensor/guard.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::comm {
namespace {

using tensor::guarded;

template <class Pointer>
void require_pointer(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw PluginError("[comm] a pointer is NULL: ", what);
}

Group& group_of(titan_group* group) {
  require_pointer(group, "group");
  return *reinterpret_cast<Group*>(group);
}

const Group* readable(const titan_group* group) { return reinterpret_cast<const Group*>(group); }

at::Tensor tensor_of(titan_tensor handle, const char* what) {
  require_pointer(handle, what);
  return handle::borrow(handle);
}

Reduce reduction(std::int32_t op) {
  if (op < TITAN_REDUCE_SUM || op > TITAN_REDUCE_MIN) throw PluginError("[comm] unknown reduction: number ", op);
  return static_cast<Reduce>(op);
}

std::vector<std::int64_t> rows_of(const Group& group, const std::int64_t* rows, const char* what) {
  require_pointer(rows, what);
  return {rows, rows + group.size()};
}

/// Runs `start` and hands its work out.
template <class Start>
titan_error* started(titan_work** out, Start&& start) {
  return guarded([&] {
    require_pointer(out, "work");
    *out = reinterpret_cast<titan_work*>(start().release());
  });
}

/// Runs `make` and hands its tensor out.
template <class Make>
titan_error* made(titan_tensor* out, Make&& make) {
  return guarded([&] {
    require_pointer(out, "out");
    *out = handle::release(make());
  });
}

titan_error* find_group(titan_mesh* mesh, titan_string axis, titan_group** out) {
  return guarded([&] {
    require_pointer(mesh, "mesh");
    require_pointer(axis.data, "axis");
    require_pointer(out, "out");
    Group& group = reinterpret_cast<Communicator*>(mesh)->group({axis.data, axis.size});
    *out = reinterpret_cast<titan_group*>(&group);
  });
}

std::uint32_t rank(const titan_group* group) {
  return group == nullptr ? 0 : static_cast<std::uint32_t>(readable(group)->rank());
}

std::uint32_t size(const titan_group* group) {
  return group == nullptr ? 0 : static_cast<std::uint32_t>(readable(group)->size());
}

titan_string name(const titan_group* group) {
  if (group == nullptr) return {nullptr, 0};
  const std::string& text = readable(group)->name();
  return {text.data(), text.size()};
}

titan_error* all_reduce(titan_group* group, titan_tensor tensor, std::int32_t op, titan_work** work) {
  return started(work, [&] { return group_of(group).all_reduce(tensor_of(tensor, "tensor"), reduction(op)); });
}

titan_error* all_gather(titan_group* group, titan_tensor out, titan_tensor in, titan_work** work) {
  return started(work, [&] { return group_of(group).all_gather(tensor_of(out, "out"), tensor_of(in, "in")); });
}

titan_error* reduce_scatter(titan_group* group, titan_tensor out, titan_tensor in, std::int32_t op, titan_work** work) {
  return started(
      work, [&] { return group_of(group).reduce_scatter(tensor_of(out, "out"), tensor_of(in, "in"), reduction(op)); });
}

titan_error* all_to_all(titan_group* group, titan_tensor out, titan_tensor in, const std::int64_t* out_rows,
                        const std::int64_t* in_rows, titan_work** work) {
  return started(work, [&] {
    Group& self = group_of(group);
    return self.all_to_all(tensor_of(out, "out"), tensor_of(in, "in"), rows_of(self, out_rows, "out_rows"),
                           rows_of(self, in_rows, "in_rows"));
  });
}

titan_error* broadcast(titan_group* group, titan_tensor tensor, std::uint32_t root, titan_work** work) {
  return started(work, [&] { return group_of(group).broadcast(tensor_of(tensor, "tensor"), root); });
}

titan_error* send(titan_group* group, titan_tensor tensor, std::uint32_t peer, std::uint32_t tag, titan_work** work) {
  return started(work, [&] { return group_of(group).send(tensor_of(tensor, "tensor"), peer, tag); });
}

titan_error* receive(titan_group* group, titan_tensor tensor, std::uint32_t peer, std::uint32_t tag,
                     titan_work** work) {
  return started(work, [&] { return group_of(group).receive(tensor_of(tensor, "tensor"), peer, tag); });
}

titan_error* barrier(titan_group* group) {
  return guarded([&] { group_of(group).barrier(); });
}

titan_error* wait(titan_work* work) {
  return guarded([&] {
    const WorkPtr owned(reinterpret_cast<Work*>(work));
    if (owned != nullptr) owned->wait();
  });
}

void set_module(titan_mesh* mesh, titan_string module) {
  if (mesh == nullptr) return;
  reinterpret_cast<Communicator*>(mesh)->set_module(
      module.data == nullptr ? std::string_view() : std::string_view(module.data, module.size));
}

titan_error* differentiable_all_reduce(titan_group* group, titan_tensor in, titan_tensor* out) {
  return made(out, [&] { return group_of(group).differentiable_all_reduce(tensor_of(in, "in")); });
}

titan_error* differentiable_all_gather(titan_group* group, titan_tensor in, std::int64_t dim, titan_tensor* out) {
  return made(out, [&] { return group_of(group).differentiable_all_gather(tensor_of(in, "in"), dim); });
}

titan_error* differentiable_reduce_scatter(titan_group* group, titan_tensor in, std::int64_t dim, titan_tensor* out) {
  return made(out, [&] { return group_of(group).differentiable_reduce_scatter(tensor_of(in, "in"), dim); });
}

titan_error* differentiable_all_to_all(titan_group* group, titan_tensor in, const std::int64_t* out_rows,
                                       const std::int64_t* in_rows, titan_tensor* out) {
  return made(out, [&] {
    Group& self = group_of(group);
    return self.differentiable_all_to_all(tensor_of(in, "in"), rows_of(self, out_rows, "out_rows"),
                                          rows_of(self, in_rows, "in_rows"));
  });
}

}  // namespace

const titan_collective_v1* collective_interface() {
  static const titan_collective_v1 table = {sizeof(titan_collective_v1),
                                            find_group,
                                            rank,
                                            size,
                                            name,
                                            all_reduce,
                                            all_gather,
                                            reduce_scatter,
                                            all_to_all,
                                            broadcast,
                                            send,
                                            receive,
                                            barrier,
                                            wait,
                                            set_module,
                                            differentiable_all_reduce,
                                            differentiable_all_gather,
                                            differentiable_reduce_scatter,
                                            differentiable_all_to_all};
  return &table;
}

}  // namespace titan::comm
