#pragma once

#include <cstdint>

namespace titan::tensor {

/// Makes libtorch allocate CPU memory here: counted, 64-byte aligned, freed blocks kept for reuse. Call once, before
/// the first tensor and on one thread; further calls do nothing. One for the process, as libtorch's own is: ranks that
/// run as threads share the figures. Also makes `new` take back kept blocks where the system has no memory, and tells
/// listeners of the allocator where there are none.
void install_cpu_allocator();

/// Bytes of tensors that live now, and the most since reset_peak(). Zero until the allocator is installed. [any thread]
std::int64_t live_bytes();
std::int64_t peak_bytes();
/// Starts a new peak at what lives now.
void reset_peak();
/// The most bytes of tensors since the process began. [any thread]
std::int64_t highest_bytes();

/// Lets no more bytes of tensors live than that; 0: no limit. What would exceed it is out of memory, as what the system
/// does not give. [any thread]
void set_memory_limit(std::int64_t bytes);
std::int64_t memory_limit();

/// Bytes that are kept for reuse, beside live_bytes(). [any thread]
std::int64_t cached_bytes();
/// Gives all kept blocks back to the system. [any thread]
void release_cached_memory();

}  // namespace titan::tensor
