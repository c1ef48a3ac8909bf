#include "core/tensor/operators.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/tensor/arguments.hpp"
#include "core/tensor/random_source.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::tensor {

namespace {

/// The place of an argument in the schema, or -1.
template <class Wanted>
std::ptrdiff_t find_argument(const c10::FunctionSchema& schema, Wanted wanted) {
  const auto& arguments = schema.arguments();
  const auto found = std::find_if(arguments.begin(), arguments.end(), wanted);
  return found == arguments.end() ? -1 : found - arguments.begin();
}

/// Where an operator gets random numbers from.
class Randomness {
 public:
  explicit Randomness(const c10::OperatorHandle& op)
      : generator_(find_argument(op.schema(), &takes_generator)),
        share_(find_argument(op.schema(), &is_dropped_share)),
        draws_globally_(op.hasTag(at::Tag::nondeterministic_seeded) && generator_ < 0) {}

  /// Fills in this thread's generator where none was given. PluginError for an operator that cannot take one.
  void apply(torch::jit::Stack& stack, const std::string& name) const {
    if (generator_ >= 0) {
      c10::IValue& given = stack[static_cast<std::size_t>(generator_)];
      if (given.isNone() && random_source() != nullptr) given = *random_source();
    } else if (draws_globally_ && !drops_nothing(stack)) {
      throw PluginError(
          "[operator] it draws from libtorch's own generator, which ranks share and recomputation cannot ",
          "repeat: ", name, ": use one that takes a generator, such as aten::bernoulli.p for dropout");
    }
  }

 private:
  static bool takes_generator(const c10::Argument& argument) {
    return argument.real_type()->str().find("Generator") != std::string::npos;
  }
  static bool is_dropped_share(const c10::Argument& argument) {
    const std::string& name = argument.name();
    return name == "dropout_p" || name == "dropout" || name == "p";
  }
  bool drops_nothing(const torch::jit::Stack& stack) const {
    return share_ >= 0 && stack[static_cast<std::size_t>(share_)].toDouble() == 0;
  }

  std::ptrdiff_t generator_, share_;
  bool draws_globally_;
};

}  // namespace

class Operator {
 public:
  explicit Operator(c10::OperatorHandle handle) : handle_(std::move(handle)), randomness_(handle_) {
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
    randomness_.apply(stack, name_);
    handle_.callBoxed(stack);
    return stack;
  }

 private:
  c10::OperatorHandle handle_;
  Randomness randomness_;
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
