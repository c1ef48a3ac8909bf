#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <string>
#include <string_view>

#include "titan/abi/tensor.h"

namespace titan::tensor {

/// An operator of libtorch, found once, with what its arguments may be worked out in advance.
class Operator;

/// Finds an operator that changes none of its arguments, such as ("aten::add", "Tensor"). PluginError when there is
/// none, naming the overloads there are, or when its schema mutates. The result lives as long as the process.
const Operator& find_operator(std::string_view name, std::string_view overload);

/// libtorch's schema text of the operator.
const std::string& schema_text(const Operator& op);

/// Calls the operator with leading arguments; the schema's defaults fill the rest. Writes num_out handles, owned by the
/// receiver; on an error none. PluginError names operator and argument.
void call_operator(const Operator& op, const titan_value* args, std::uint32_t num_args, titan_tensor* out,
                   std::uint32_t num_out);

}  // namespace titan::tensor
