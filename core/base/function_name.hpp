#pragma once

#include <string>

namespace titan {

/// Which function an address of this process's code belongs to.
struct FunctionName {
  std::string function;  // "titan::train::Trainer::fetch"; "+0x1a2b" in its library where the name is not known
  std::string library;   // file name: "libtorch_cpu.so"
};

/// Finds the function that holds the address, in the tables of its library's file too: most of our functions are not
/// exported. Without parameters and template arguments.
FunctionName function_at(const void* address);

/// A demangled name without parameters, template arguments, return type and anonymous namespaces.
std::string bare_function_name(const std::string& demangled);

}  // namespace titan
