#include "core/comm/cuda/cuda_library.hpp"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/config/engine.hpp"

namespace titan::comm {
namespace {

constexpr const char* kFileName = "libtitan_cuda.so";

/// The folder of the library or program that this code is part of.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&cuda_library), &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

const CudaLibrary* load() {
  const std::filesystem::path file = own_folder() / kFileName;
  // Never closed: libtorch keeps what the library registers with it.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* problem = ::dlerror();
    throw ConfigError("[comm] training.device cuda needs ", kFileName,
                      ", which is built where the CUDA toolkit, NCCL and libtorch's CUDA part are found (TITAN_CUDA): ",
                      printable(problem == nullptr ? "unknown error" : problem));
  }
  const auto query = reinterpret_cast<CudaQuery>(::dlsym(handle, "titan_cuda_query_v1"));
  const CudaLibrary* library = query == nullptr ? nullptr : query();
  if (library == nullptr || std::strcmp(library->build_id, kBuildId) != 0) {
    throw ConfigError("[comm] the library is of another build than the engine: ", printable(file.string()));
  }
  return library;
}

}  // namespace

const CudaLibrary& cuda_library() {
  static const CudaLibrary* const library = load();
  return *library;
}

}  // namespace titan::comm
