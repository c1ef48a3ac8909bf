#include "core/tensor/interface.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <limits>

#include "core/base/error.hpp"
#include "core/tensor/dtype.hpp"
#include "core/tensor/guard.hpp"
#include "core/tensor/operators.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::tensor {
namespace {

c10::TensorImpl* impl(titan_tensor tensor) { return reinterpret_cast<c10::TensorImpl*>(tensor); }

/// Runs `ask` on the tensor; NULL handles and tensors without the asked property (sparse ones) give `otherwise`.
template <class Result, class Ask>
Result ask_tensor(titan_tensor tensor, Result otherwise, Ask ask) noexcept {
  if (tensor == nullptr) return otherwise;
  try {
    return ask(*impl(tensor));
  } catch (...) {
    return otherwise;
  }
}

/// Index of a dimension that may count from the end, or -1.
std::int64_t dim_index(const c10::TensorImpl& tensor, std::int64_t dim) {
  const std::int64_t index = dim < 0 ? dim + tensor.dim() : dim;
  return index >= 0 && index < tensor.dim() ? index : -1;
}

std::int64_t size_of(titan_tensor tensor, std::int64_t dim) {
  return ask_tensor<std::int64_t>(tensor, -1, [dim](const c10::TensorImpl& self) {
    const std::int64_t index = dim_index(self, dim);
    return index < 0 ? -1 : self.sizes()[static_cast<std::size_t>(index)];
  });
}

std::int64_t stride_of(titan_tensor tensor, std::int64_t dim) {
  return ask_tensor<std::int64_t>(tensor, -1, [dim](const c10::TensorImpl& self) {
    const std::int64_t index = dim_index(self, dim);
    return index < 0 ? -1 : self.strides()[static_cast<std::size_t>(index)];
  });
}

void* data_of(titan_tensor tensor) {
  return ask_tensor<void*>(tensor, nullptr, [](c10::TensorImpl& self) { return self.mutable_data(); });
}

/// Checks what a plugin says of a new tensor; gives its element type.
at::ScalarType checked_type(const std::int64_t* sizes, std::uint64_t num_sizes, std::int32_t dtype, const void* out) {
  if (out == nullptr || (sizes == nullptr && num_sizes > 0)) throw PluginError("[tensor] a pointer is NULL");
  if (num_sizes > 64) throw PluginError("[tensor] too many dimensions: ", num_sizes, ", at most 64");
  const auto type = scalar_type(dtype);
  if (!type) throw PluginError("[tensor] unknown dtype number: ", dtype);
  std::int64_t bytes = static_cast<std::int64_t>(c10::elementSize(*type));
  for (std::uint64_t i = 0; i < num_sizes; ++i) {
    if (sizes[i] < 0) throw PluginError("[tensor] a size is negative: dim ", i, ", size ", sizes[i]);
    if (sizes[i] > 0 && bytes > std::numeric_limits<std::int64_t>::max() / sizes[i]) {
      throw PluginError("[tensor] the sizes overflow: dim ", i, ", size ", sizes[i]);
    }
    bytes *= sizes[i];
  }
  return *type;
}

titan_error* empty(const std::int64_t* sizes, std::uint64_t num_sizes, std::int32_t dtype, std::int32_t device_number,
                   titan_tensor* out) {
  return guarded([&] {
    const auto type = checked_type(sizes, num_sizes, dtype, out);
    const auto place = device(device_number);
    if (!place) throw PluginError("[tensor] unknown device number: ", device_number);
    if (place->is_cuda()) throw PluginError("[tensor] this release has no CUDA device");
    *out = handle::release(at::empty(at::IntArrayRef(sizes, num_sizes), at::TensorOptions(*place).dtype(type)));
  });
}

titan_error* from_blob(void* data, const std::int64_t* sizes, std::uint64_t num_sizes, std::int32_t dtype,
                       void (*deleter)(void*), void* ctx, titan_tensor* out) {
  return guarded([&] {
    const auto type = checked_type(sizes, num_sizes, dtype, out);
    const at::IntArrayRef shape(sizes, num_sizes);
    if (data == nullptr && c10::multiply_integers(shape) > 0) throw PluginError("[tensor] the data pointer is NULL");
    const auto free = [deleter, ctx](void*) {
      if (deleter != nullptr) deleter(ctx);
    };
    *out = handle::release(at::from_blob(data, shape, free, at::TensorOptions(at::kCPU).dtype(type)));
  });
}

titan_error* find_op(titan_string name, titan_string overload, titan_op* out) {
  return guarded([&] {
    if (name.data == nullptr || out == nullptr) throw PluginError("[operator] a pointer is NULL");
    const std::string_view overload_name =
        overload.data == nullptr ? std::string_view() : std::string_view(overload.data, overload.size);
    const Operator& op = find_operator({name.data, name.size}, overload_name);
    *out = reinterpret_cast<titan_op>(const_cast<Operator*>(&op));
  });
}

titan_string op_schema(titan_op op) {
  if (op == nullptr) return {nullptr, 0};
  const std::string& text = schema_text(*reinterpret_cast<const Operator*>(op));
  return {text.data(), text.size()};
}

titan_error* call_op(titan_op op, const titan_value* args, std::uint32_t num_args, titan_tensor* out,
                     std::uint32_t num_out) {
  return guarded([&] {
    if (op == nullptr || (args == nullptr && num_args > 0) || (out == nullptr && num_out > 0)) {
      throw PluginError("[operator] a pointer is NULL");
    }
    call_operator(*reinterpret_cast<const Operator*>(op), args, num_args, out, num_out);
  });
}

std::int32_t grad_mode(std::int32_t enabled) {
  const bool before = c10::GradMode::is_enabled();
  c10::GradMode::set_enabled(enabled != 0);
  return before ? 1 : 0;
}

titan_tensor_v1 make_table() {
  titan_tensor_v1 table{};
  table.struct_size = sizeof table;
  table.retain = [](titan_tensor tensor) { handle::release(handle::borrow(tensor)); };
  table.release = [](titan_tensor tensor) { handle::own(tensor); };
  table.dtype = [](titan_tensor tensor) {
    return ask_tensor<std::int32_t>(
        tensor, 0, [](const c10::TensorImpl& self) { return abi_dtype(c10::typeMetaToScalarType(self.dtype())); });
  };
  table.device = [](titan_tensor tensor) {
    return ask_tensor<std::int32_t>(tensor, 0, [](const c10::TensorImpl& self) { return abi_device(self.device()); });
  };
  table.dim = [](titan_tensor tensor) {
    return ask_tensor<std::int64_t>(tensor, -1, [](const c10::TensorImpl& self) { return self.dim(); });
  };
  table.size = size_of;
  table.stride = stride_of;
  table.numel = [](titan_tensor tensor) {
    return ask_tensor<std::int64_t>(tensor, -1, [](const c10::TensorImpl& self) { return self.numel(); });
  };
  table.requires_grad = [](titan_tensor tensor) {
    return ask_tensor<std::int32_t>(tensor, 0,
                                    [](const c10::TensorImpl& self) { return self.requires_grad() ? 1 : 0; });
  };
  table.data = data_of;
  table.empty = empty;
  table.from_blob = from_blob;
  table.op_find = find_op;
  table.op_schema = op_schema;
  table.op_call = call_op;
  table.grad_mode = grad_mode;
  return table;
}

}  // namespace

const titan_tensor_v1* tensor_interface() {
  static const titan_tensor_v1 table = make_table();
  return &table;
}

}  // namespace titan::tensor
