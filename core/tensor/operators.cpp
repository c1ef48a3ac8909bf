#include "core/tensor/operators.hpp"

#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/tensor/arguments.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::tensor {

class Operator {
 public:
  explicit Operator(c10::OperatorHandle handle) : handle_(std::move(handle)) {
    text_ = c10::toString(handle_.schema());
    name_ = c10::toString(handle_.operator_name());
    for (const auto& argument : handle_.schema().arguments()) parameters_.emplace_back(argument);
  }
  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }

  torch::jit::Stack call(const titan_value* args, std::uint32_t num_args) const {
    if (num_args > parameters_.size()) {
      throw PluginError("[operator] too many arguments: ", name_, " takes ", parameters_.size(), ", given ", num_args);
    }
    torch::jit::Stack stack;
    stack.reserve(parameters_.size());
    for (std::uint32_t i = 0; i < num_args; ++i) stack.push_back(parameters_[i].convert(args[i], name_));
    for (std::size_t i = num_args; i < parameters_.size(); ++i) stack.push_back(parameters_[i].default_value(name_));
    handle_.callBoxed(stack);
    return stack;
  }

 private:
  c10::OperatorHandle handle_;
  std::string name_, text_;
  std::vector<OperatorParameter> parameters_;
};

namespace {

// One for the process, as libtorch's own operator table is, and leaked: handles outlive every rank.
struct OperatorTable {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<const Operator>, std::less<>> known;
};

OperatorTable& operator_table() {
  static auto* table = new OperatorTable;
  return *table;
}

[[noreturn]] void throw_unknown(const std::string& name, const std::string& overload) {
  std::vector<std::string> overloads;
  for (const auto& known : c10::Dispatcher::singleton().getAllOpNames()) {
    if (known.name == name) overloads.push_back(concat('"', known.overload_name, '"'));
  }
  if (overloads.empty()) throw PluginError("[operator] no operator of that name: ", printable(name));
  throw PluginError("[operator] no such overload: ", name, " has ", join(overloads, ", "), ", asked for \"",
                    printable(overload), '"');
}

c10::OperatorHandle look_up(const std::string& name, const std::string& overload) {
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) throw_unknown(name, overload);
  if (handle->schema().is_mutable()) {
    throw PluginError("[operator] operators that change their arguments are refused, use the one that returns a new ",
                      "tensor: ", c10::toString(handle->schema()));
  }
  return *handle;
}

std::vector<at::Tensor> tensors_of(torch::jit::Stack&& results, const std::string& name) {
  std::vector<at::Tensor> tensors;
  for (auto& result : results) {
    if (result.isTensor()) {
      tensors.push_back(std::move(result).toTensor());
    } else if (result.isTensorList()) {
      for (const at::Tensor& element : result.toTensorVector()) tensors.push_back(element);
    } else {
      throw PluginError("[operator] a result is not a tensor: ", name, " returns ", result.tagKind());
    }
  }
  return tensors;
}

}  // namespace

const Operator& find_operator(std::string_view name, std::string_view overload) {
  auto& table = operator_table();
  const std::lock_guard lock(table.mutex);
  std::pair<std::string, std::string> key(name, overload);
  auto found = table.known.find(key);
  if (found == table.known.end()) {
    auto op = std::make_unique<const Operator>(look_up(key.first, key.second));
    found = table.known.emplace(std::move(key), std::move(op)).first;
  }
  return *found->second;
}

const std::string& schema_text(const Operator& op) { return op.text(); }

void call_operator(const Operator& op, const titan_value* args, std::uint32_t num_args, titan_tensor* out,
                   std::uint32_t num_out) {
  auto tensors = tensors_of(op.call(args, num_args), op.name());
  if (tensors.size() != num_out) {
    throw PluginError("[operator] wrong number of outputs: ", op.name(), " gives ", tensors.size(), ", asked for ",
                      num_out);
  }
  for (auto& tensor : tensors) *out++ = handle::release(std::move(tensor));
}

}  // namespace titan::tensor
