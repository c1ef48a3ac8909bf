#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>

#include "titan/abi/tensor.h"

namespace titan::tensor {

/// One parameter of an operator's schema: which values it takes, worked out once.
class OperatorParameter {
 public:
  explicit OperatorParameter(const c10::Argument& argument);

  /// The boxed form of a value. PluginError, naming `op` and the parameter, when its kind does not fit.
  c10::IValue convert(const titan_value& value, const std::string& op) const;
  /// The schema's default. PluginError when the parameter must be given.
  const c10::IValue& default_value(const std::string& op) const;

 private:
  enum class Kind {
    tensor,
    integer,
    floating,
    scalar,
    boolean,
    integers,
    tensors,
    optional_tensors,
    text,
    dtype,
    other
  };
  static Kind kind_of(const c10::Type& type);
  [[noreturn]] void refuse(const std::string& what, const std::string& op) const;
  c10::IValue number(const titan_value& value, const std::string& op) const;
  c10::IValue list(const titan_value& value, const std::string& op) const;

  Kind kind_;
  bool optional_ = false;
  std::string name_, type_;
  std::optional<c10::IValue> default_;
};

}  // namespace titan::tensor
