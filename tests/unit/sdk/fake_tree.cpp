#include "tests/unit/sdk/fake_tree.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

namespace titan::test {
namespace {

// The tensor table's functions have no context: the current tree of the thread is their state.
thread_local FakeTree* current = nullptr;
thread_local int live = 0;

std::string copy(titan_string text) {
  return text.data == nullptr ? std::string() : std::string(text.data, static_cast<std::size_t>(text.size));
}

FakeTensor& of(titan_tensor tensor) { return *reinterpret_cast<FakeTensor*>(tensor); }

std::int64_t numel(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t at(const std::vector<std::int64_t>& sizes, std::int64_t dim) {
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(sizes.size()) : dim);
}

/// Replaces a -1 among `sizes` by what is left of `total`.
std::vector<std::int64_t> infer(const titan_value& value, std::int64_t total) {
  std::vector<std::int64_t> sizes(value.as.ints, value.as.ints + value.size);
  for (std::int64_t& size : sizes)
    if (size == -1) size = -total / numel(sizes);
  return sizes;
}

std::vector<std::int64_t> op_sizes(const std::string& op, const titan_value* args) {
  std::vector<std::int64_t> sizes = of(args[0].as.tensor).sizes;
  if (op.starts_with("aten::view") || op.starts_with("aten::reshape")) return infer(args[1], numel(sizes));
  if (op.starts_with("aten::transpose")) {
    std::swap(sizes[at(sizes, args[1].as.integer)], sizes[at(sizes, args[2].as.integer)]);
  } else if (op.starts_with("aten::unflatten")) {
    const std::size_t dim = at(sizes, args[1].as.integer);
    const std::vector<std::int64_t> parts = infer(args[2], sizes[dim]);
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), parts.begin(), parts.end());
  } else if (op.starts_with("aten::flatten")) {
    const auto first = static_cast<std::ptrdiff_t>(at(sizes, args[1].as.integer));
    const auto last = static_cast<std::ptrdiff_t>(at(sizes, args[2].as.integer));
    const std::int64_t joined =
        std::accumulate(sizes.begin() + first, sizes.begin() + last + 1, std::int64_t{1}, std::multiplies<>());
    sizes.erase(sizes.begin() + first, sizes.begin() + last);
    sizes[static_cast<std::size_t>(first)] = joined;
  }
  return sizes;
}

}  // namespace

struct FakeTreeCallbacks {
  static FakeTree& tree(titan_tree* handle) { return *reinterpret_cast<FakeTree*>(handle); }

  static void retain(titan_tensor tensor) { ++of(tensor).references; }
  static void release(titan_tensor tensor) { FakeTree::release(tensor); }
  static std::int32_t dtype(titan_tensor) { return TITAN_FLOAT32; }
  static std::int32_t device(titan_tensor) { return TITAN_DEVICE_CPU; }
  static std::int64_t dim(titan_tensor tensor) { return static_cast<std::int64_t>(of(tensor).sizes.size()); }
  static std::int64_t size(titan_tensor tensor, std::int64_t dim) {
    const std::vector<std::int64_t>& sizes = of(tensor).sizes;
    return at(sizes, dim) < sizes.size() ? sizes[at(sizes, dim)] : -1;
  }
  static std::int64_t numel_of(titan_tensor tensor) { return numel(of(tensor).sizes); }
  static std::int32_t requires_grad(titan_tensor) { return 0; }
  static void* data(titan_tensor) { return nullptr; }
  static std::int32_t grad_mode(std::int32_t enabled) {
    thread_local std::int32_t mode = 1;
    return std::exchange(mode, enabled);
  }

  static titan_error* op_find(titan_string name, titan_string overload, titan_op* out) {
    if (titan_error* error = current->maybe_fail("op_find")) return error;
    // Operators live as long as the process.
    static std::map<std::string, std::unique_ptr<std::string>> ops;
    std::string full = copy(name);
    if (overload.size != 0) full.append(1, '.').append(copy(overload));
    auto& op = ops[full];
    if (op == nullptr) op = std::make_unique<std::string>(full);
    *out = reinterpret_cast<titan_op>(op.get());
    return nullptr;
  }
  static titan_error* op_call(titan_op op, const titan_value* args, std::uint32_t, titan_tensor* out,
                              std::uint32_t num_out) {
    if (titan_error* error = current->maybe_fail("op_call")) return error;
    const auto& name = *reinterpret_cast<const std::string*>(op);
    current->calls_.push_back(name);
    for (std::uint32_t i = 0; i < num_out; ++i) out[i] = FakeTree::make(op_sizes(name, args));
    return nullptr;
  }

  static titan_error* add(titan_tree* handle, FakeTree::Module module, titan_module* out) {
    FakeTree& tree = FakeTreeCallbacks::tree(handle);
    const std::string& parent = tree.modules_.at(module.parent).name;
    if (!parent.empty()) module.name = parent + "." + module.name;
    *out = static_cast<titan_module>(tree.modules_.size());
    tree.modules_.push_back(std::move(module));
    return nullptr;
  }
  static titan_error* add_leaf(titan_tree* handle, titan_module parent, titan_string name, titan_string kind,
                               const titan_attribute* attributes, std::uint32_t count, titan_module* out) {
    if (titan_error* error = tree(handle).maybe_fail("add_leaf")) return error;
    FakeTree::Module module{copy(name), copy(kind), parent, {}, {}, {}};
    for (std::uint32_t i = 0; i < count; ++i) {
      const titan_attribute& a = attributes[i];
      std::string value = copy(a.string);
      if (a.kind == TITAN_ATTRIBUTE_INT) value = std::to_string(a.integer);
      if (a.kind == TITAN_ATTRIBUTE_FLOAT) value = std::to_string(a.floating);
      module.attributes[copy(a.key)] = value;
    }
    return add(handle, std::move(module), out);
  }
  static titan_error* add_custom(titan_tree* handle, titan_module parent, titan_string name, titan_forward_fn forward,
                                 void* self, void (*destroy)(void*), titan_module* out) {
    if (titan_error* error = tree(handle).maybe_fail("add_custom")) return error;
    return add(handle, {copy(name), "custom", parent, {}, {}, {}, forward, self, destroy}, out);
  }
  static titan_error* add_parameter(titan_tree* handle, titan_module module, const titan_parameter* parameter) {
    if (titan_error* error = tree(handle).maybe_fail("add_parameter")) return error;
    tree(handle).modules_.at(module).parameters.push_back(
        {copy(parameter->name), {parameter->shape, parameter->shape + parameter->num_dims}, *parameter});
    return nullptr;
  }
  static titan_error* share_parameter(titan_tree* handle, titan_module module, titan_string, titan_module owner,
                                      std::uint32_t index) {
    if (titan_error* error = tree(handle).maybe_fail("share_parameter")) return error;
    const FakeTree::Module& source = tree(handle).modules_.at(owner);
    tree(handle).modules_.at(module).shared.push_back(source.name + "." + source.parameters.at(index).name);
    return nullptr;
  }
  static titan_error* add_to_chain(titan_tree* handle, titan_module module, std::uint32_t inputs) {
    if (titan_error* error = tree(handle).maybe_fail("add_to_chain")) return error;
    const char* suffix = inputs == TITAN_CHAIN_POSITIONS ? "+positions" : "";
    tree(handle).chain_.push_back(tree(handle).modules_.at(module).name + suffix);
    return nullptr;
  }
  static titan_error* set_loss(titan_tree* handle, titan_module module) {
    if (titan_error* error = tree(handle).maybe_fail("set_loss")) return error;
    tree(handle).loss_ = tree(handle).modules_.at(module).name;
    return nullptr;
  }
  static titan_error* call(titan_frame*, titan_module id, const titan_tensor* in, std::uint32_t num_in,
                           titan_tensor* out, std::uint32_t num_out) {
    if (titan_error* error = current->maybe_fail("call")) return error;
    const FakeTree::Module& module = current->modules_.at(id);
    if (module.forward != nullptr) return module.forward(module.self, nullptr, in, num_in, out, num_out);
    current->run_leaf(module, in, out, num_out);
    return nullptr;
  }
};

FakeTree::FakeTree(FakeHost& host) : host_(host), modules_(1) {
  using C = FakeTreeCallbacks;
  current = this;
  tree_.struct_size = sizeof tree_;
  tree_.add_leaf = &C::add_leaf;
  tree_.add_custom = &C::add_custom;
  tree_.add_parameter = &C::add_parameter;
  tree_.share_parameter = &C::share_parameter;
  tree_.add_to_chain = &C::add_to_chain;
  tree_.set_loss = &C::set_loss;
  tree_.call = &C::call;
  tensor_.struct_size = sizeof tensor_;
  tensor_.retain = &C::retain;
  tensor_.release = &C::release;
  tensor_.dtype = &C::dtype;
  tensor_.device = &C::device;
  tensor_.dim = &C::dim;
  tensor_.size = &C::size;
  tensor_.numel = &C::numel_of;
  tensor_.requires_grad = &C::requires_grad;
  tensor_.data = &C::data;
  tensor_.op_find = &C::op_find;
  tensor_.op_call = &C::op_call;
  tensor_.grad_mode = &C::grad_mode;
  host.offer(TITAN_TREE_V1, &tree_);
  host.offer(TITAN_TENSOR_V1, &tensor_);
}

FakeTree::~FakeTree() {
  for (const Module& module : modules_)
    if (module.destroy != nullptr) module.destroy(module.self);
  current = nullptr;
}

titan_error* FakeTree::maybe_fail(const char* function) {
  if (fail_after_ == 0 || --fail_after_ > 0) return nullptr;
  const std::string text = std::string("refused: ") + function;
  return host_.table()->error_new(host_.table(), TITAN_ERROR_IO, {text.data(), text.size()});
}

void FakeTree::run_leaf(const Module& module, const titan_tensor* in, titan_tensor* out, std::uint32_t num_out) {
  calls_.push_back(module.kind);
  std::vector<std::int64_t> shape = of(in[0]).sizes;
  if (module.kind == "titan.linear") shape.back() = module.parameters.at(0).shape.at(0);
  if (module.kind == "titan.embedding") shape.push_back(module.parameters.at(0).shape.at(1));
  if (module.kind == "titan.cross_entropy") shape.clear();
  if (module.kind == "titan.rms_norm" && num_out == 2) out[1] = make(of(in[0]).sizes);
  if (module.kind == "titan.rope") out[1] = make(of(in[1]).sizes);
  out[0] = make(std::move(shape));
}

const FakeTree::Module& FakeTree::module(std::string_view name) const { return modules_[id(name)]; }

titan_module FakeTree::id(std::string_view name) const {
  for (std::size_t i = 0; i < modules_.size(); ++i)
    if (modules_[i].name == name) return static_cast<titan_module>(i);
  throw std::out_of_range("no module " + std::string(name));
}

std::map<std::string, FakeTree::Parameter> FakeTree::parameters() const {
  std::map<std::string, Parameter> all;
  for (const Module& module : modules_)
    for (const Parameter& parameter : module.parameters) all.emplace(module.name + "." + parameter.name, parameter);
  return all;
}

int FakeTree::live_tensors() { return live; }

titan_tensor FakeTree::make(std::vector<std::int64_t> sizes) {
  ++live;
  return reinterpret_cast<titan_tensor>(new FakeTensor{std::move(sizes)});
}

std::vector<std::int64_t> FakeTree::sizes(titan_tensor tensor) { return of(tensor).sizes; }

void FakeTree::release(titan_tensor tensor) {
  if (tensor == nullptr || --of(tensor).references > 0) return;
  --live;
  delete &of(tensor);
}

titan_error* FakeTree::call(titan_module module, const std::vector<titan_tensor>& in, std::vector<titan_tensor>& out) {
  return tree_.call(nullptr, module, in.data(), static_cast<std::uint32_t>(in.size()), out.data(),
                    static_cast<std::uint32_t>(out.size()));
}

}  // namespace titan::test
