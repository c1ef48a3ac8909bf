#pragma once

#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <string>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace titan::comm {

/// What a group of ranks with one GPU each is made of.
struct NcclParts {
  c10::intrusive_ptr<c10d::Store> store;
  int position = 0;
  int size = 1;
  std::string name;
  int device = 0;  // this rank's GPU
};

/// What libtitan_cuda.so offers: all that needs CUDA and NCCL. Engine and library are built together.
struct CudaLibrary {
  std::uint32_t struct_size;
  const char* build_id;
  /// c10d's NCCL backend; its own watchdog leaves errors and deadlines to us. Throws c10::Error.
  c10::intrusive_ptr<c10d::Backend> (*make_nccl)(const NcclParts& parts);
};

/// The one symbol that libtitan_cuda.so exports: titan_cuda_query_v1.
using CudaQuery = const CudaLibrary* (*)();

/// Loads libtitan_cuda.so from the engine's folder, and with it libtorch's CUDA part, at the first call: call it before
/// the first tensor operation. ConfigError says what is missing. Never called where no GPU is asked for.
const CudaLibrary& cuda_library();

}  // namespace titan::comm
