#include "core/trace/names.hpp"

#include <array>
#include <span>

namespace titan::trace {
namespace {

struct Name {
  std::string_view of_dump, shown;
};

constexpr std::array<Name, 3> kCalls{
    {{"_all_gather_base", "_allgather_base"}, {"all_to_all", "alltoall_base"}, {"all_reduce_barrier", "barrier"}}};
constexpr std::array<Name, 10> kTypes{{{"Double", "float64"},
                                       {"Float", "float32"},
                                       {"BFloat16", "bfloat16"},
                                       {"Half", "float16"},
                                       {"Long", "int64"},
                                       {"Int", "int32"},
                                       {"Short", "int16"},
                                       {"Char", "int8"},
                                       {"Byte", "uint8"},
                                       {"Bool", "bool"}}};

std::string_view find(std::span<const Name> names, std::string_view of_dump) {
  for (const Name& name : names) {
    if (name.of_dump == of_dump) return name.shown;
  }
  return of_dump;
}

}  // namespace

std::string_view call_name(std::string_view of_dump) { return find(kCalls, of_dump); }

std::string_view dtype_name(std::string_view of_dump) { return find(kTypes, of_dump); }

}  // namespace titan::trace
