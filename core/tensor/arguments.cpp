#include "core/tensor/arguments.hpp"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <array>

#include "core/base/error.hpp"
#include "core/tensor/dtype.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::tensor {
namespace {

std::string kind_name(std::int32_t kind) {
  static constexpr std::array<const char*, 9> kNames = {"none", "a tensor", "an int",   "a float", "a bool",
                                                        "ints", "tensors",  "a string", "a dtype"};
  const auto index = static_cast<std::size_t>(kind);
  return kind >= 0 && index < kNames.size() ? kNames[index] : concat("unknown kind ", kind);
}

}  // namespace

OperatorParameter::OperatorParameter(const c10::Argument& argument)
    : name_(argument.name()), type_(argument.real_type()->str()), default_(argument.default_value()) {
  const c10::Type* type = argument.real_type().get();
  if (const auto optional = type->castRaw<c10::OptionalType>()) {
    optional_ = true;
    type = optional->getElementType().get();
  }
  kind_ = kind_of(*type);
}

OperatorParameter::Kind OperatorParameter::kind_of(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return Kind::tensor;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return Kind::integer;
    case c10::TypeKind::FloatType:
      return Kind::floating;
    case c10::TypeKind::NumberType:
      return Kind::scalar;
    case c10::TypeKind::BoolType:
      return Kind::boolean;
    case c10::TypeKind::StringType:
      return Kind::text;
    case c10::TypeKind::ScalarTypeType:
      return Kind::dtype;
    case c10::TypeKind::ListType: {
      const c10::Type& element = *type.castRaw<c10::ListType>()->getElementType();
      if (element.kind() == c10::TypeKind::OptionalType) return Kind::optional_tensors;
      const Kind kind = kind_of(element);
      if (kind == Kind::tensor) return Kind::tensors;
      return kind == Kind::integer ? Kind::integers : Kind::other;
    }
    default:
      return Kind::other;
  }
}

void OperatorParameter::refuse(const std::string& what, const std::string& op) const {
  throw PluginError("[operator] argument does not fit: ", op, ", ", type_, " ", name_, ": ", what);
}

const c10::IValue& OperatorParameter::default_value(const std::string& op) const {
  if (!default_) refuse("missing, and it has no default", op);
  return *default_;
}

c10::IValue OperatorParameter::convert(const titan_value& value, const std::string& op) const {
  switch (value.kind) {
    case TITAN_VALUE_NONE:
      if (optional_) return {};
      break;
    case TITAN_VALUE_TENSOR:
      if (kind_ != Kind::tensor) break;
      if (value.as.tensor == nullptr) refuse("the handle is NULL", op);
      return handle::borrow(value.as.tensor);
    case TITAN_VALUE_STRING:
      if (kind_ != Kind::text) break;
      if (value.as.text == nullptr) refuse("the text is NULL", op);
      return std::string(value.as.text, value.size);
    case TITAN_VALUE_INTS:
    case TITAN_VALUE_TENSORS:
      return list(value, op);
    default:
      return number(value, op);
  }
  refuse(concat("given ", kind_name(value.kind)), op);
}

c10::IValue OperatorParameter::number(const titan_value& value, const std::string& op) const {
  switch (value.kind) {
    case TITAN_VALUE_INT:
      if (kind_ == Kind::integer || kind_ == Kind::scalar) return value.as.integer;
      if (kind_ == Kind::floating) return static_cast<double>(value.as.integer);
      break;
    case TITAN_VALUE_FLOAT:
      if (kind_ == Kind::floating || kind_ == Kind::scalar) return value.as.floating;
      break;
    case TITAN_VALUE_BOOL:
      if (kind_ == Kind::boolean || kind_ == Kind::scalar) return value.as.integer != 0;
      break;
    case TITAN_VALUE_DTYPE:
      if (kind_ != Kind::dtype) break;
      if (const auto type = scalar_type(value.as.integer)) return *type;
      refuse(concat("unknown dtype number ", value.as.integer), op);
    default:
      break;
  }
  refuse(concat("given ", kind_name(value.kind)), op);
}

c10::IValue OperatorParameter::list(const titan_value& value, const std::string& op) const {
  if (value.kind == TITAN_VALUE_INTS) {
    if (kind_ != Kind::integers) refuse("given ints", op);
    if (value.as.ints == nullptr && value.size > 0) refuse("the list is NULL", op);
    return c10::IntArrayRef(value.as.ints, value.size);
  }
  if (kind_ != Kind::tensors && kind_ != Kind::optional_tensors) refuse("given tensors", op);
  if (value.as.tensors == nullptr && value.size > 0) refuse("the list is NULL", op);
  c10::List<at::Tensor> tensors;
  c10::List<std::optional<at::Tensor>> optional_tensors;
  for (std::uint32_t i = 0; i < value.size; ++i) {
    const at::Tensor tensor = handle::borrow(value.as.tensors[i]);
    if (kind_ == Kind::optional_tensors) {
      optional_tensors.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
    } else {
      if (!tensor.defined()) refuse(concat("handle ", i, " is NULL"), op);
      tensors.push_back(tensor);
    }
  }
  if (kind_ == Kind::optional_tensors) return optional_tensors;
  return tensors;
}

}  // namespace titan::tensor
