#include "core/train/precision.hpp"

#include <array>
#include <utility>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 3> kDtypes = {
    {{"bfloat16", at::kBFloat16}, {"float32", at::kFloat}, {"float64", at::kDouble}}};

std::string_view name_of(at::ScalarType type) {
  for (const auto& [name, known] : kDtypes) {
    if (known == type) return name;
  }
  throw InternalError("a dtype without a name: ", static_cast<int>(type));
}

// Order of precision: bfloat16 < float32 < float64.
int rank(at::ScalarType type) { return type == at::kBFloat16 ? 0 : type == at::kFloat ? 1 : 2; }

}  // namespace

at::ScalarType parse_dtype(std::string_view option, std::string_view name) {
  for (const auto& [known, type] : kDtypes) {
    if (known == name) return type;
  }
  throw ConfigError("[train] ", option, " must be bfloat16, float32 or float64: ", printable(name));
}

nn::Precision make_precision(std::string_view dtype, std::string_view param, std::string_view reduce) {
  const nn::Precision precision{parse_dtype("training.dtype", dtype),
                                parse_dtype("training.mixed_precision_param", param),
                                parse_dtype("training.mixed_precision_reduce", reduce)};
  if (precision.compute == at::kDouble && precision.storage != at::kDouble) {
    throw ConfigError("[train] training.mixed_precision_param float64 needs training.dtype float64: training.dtype is ",
                      dtype);
  }
  return precision;
}

std::string describe(const nn::Precision& precision) {
  return concat("storage ", name_of(precision.storage), ", compute ", name_of(precision.compute), ", gradients ",
                name_of(precision.reduce));
}

std::vector<std::string> remarks(const nn::Precision& precision) {
  std::vector<std::string> found;
  if (precision.storage == at::kDouble && precision.compute != at::kDouble) {
    found.push_back(concat("weights are stored in float64 but computed with in ", name_of(precision.compute),
                           ": set training.mixed_precision_param=float64 to compute in float64"));
  }
  if (rank(precision.reduce) < rank(precision.compute)) {
    found.push_back(concat("gradients of ", name_of(precision.compute), " are rounded to ", name_of(precision.reduce),
                           ": set training.mixed_precision_reduce=", name_of(precision.compute), " to keep them"));
  }
  return found;
}

}  // namespace titan::train
