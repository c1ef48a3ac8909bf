#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/manifest.hpp"
#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/train_state.hpp"

namespace titan::checkpoint {

class WholeHash;

/// Where one box of a stored tensor lies: row-major, contiguous, from `begin` on.
struct StoredPart {
  Box box;
  std::uint32_t file = 0;  // in Source::files
  std::uint64_t begin = 0;

  friend bool operator==(const StoredPart&, const StoredPart&) = default;
};

struct StoredTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<StoredPart> parts;  // every element in exactly one

  friend bool operator==(const StoredTensor&, const StoredTensor&) = default;
};

/// A file with tensors. What is read of it is compared with the hash of its blocks, where there are some.
struct StoredFile {
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::uint64_t block_size = 0;           // bytes of a block, the last one shorter; 0: there are no hashes
  std::vector<std::string> block_hashes;  // XXH3, 128 bits, 32 hexadecimal digits
  // Of the whole, where there are no blocks; null: not known. Nothing is read before it was found right.
  std::shared_ptr<const WholeHash> whole_hash = nullptr;

  friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

enum class Format { titan, hugging_face, dcp };

/// A checkpoint to read from: which tensors it has, and where their bytes are. Opened without reading any tensor.
struct Source {
  Format format = Format::titan;
  std::filesystem::path folder;
  std::map<std::string, StoredTensor> tensors;
  std::vector<StoredFile> files;
  std::optional<Manifest> manifest;       // of our own format
  std::optional<TrainState> train_state;  // none: there is only a model
};

/// Says of which format the folder is: MANIFEST.json is ours, .metadata is PyTorch's DCP, model.safetensors or its
/// index are Hugging Face's. InputError when it is none, or no folder.
Format format_of(const std::filesystem::path& folder);

/// Opens a step folder of our format: manifest, index, train state, and every header; sizes and save ids must fit.
/// DataError names the file, and the tensor; InputError: there is no such folder or no manifest in it.
Source open_titan(const std::filesystem::path& folder);

}  // namespace titan::checkpoint
