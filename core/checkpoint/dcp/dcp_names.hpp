#pragma once

#include <string_view>

#include "core/checkpoint/dtype.hpp"

/// The names of classes and functions in DCP checkpoints.
namespace titan::checkpoint::dcp_names {

inline constexpr std::string_view kMetadata = "torch.distributed.checkpoint.metadata.Metadata";
inline constexpr std::string_view kTensor = "torch.distributed.checkpoint.metadata.TensorStorageMetadata";
inline constexpr std::string_view kObject = "torch.distributed.checkpoint.metadata.BytesStorageMetadata";
inline constexpr std::string_view kChunk = "torch.distributed.checkpoint.metadata.ChunkStorageMetadata";
inline constexpr std::string_view kIndex = "torch.distributed.checkpoint.metadata.MetadataIndex";
inline constexpr std::string_view kProperties = "torch.distributed.checkpoint.metadata.TensorProperties";
inline constexpr std::string_view kMemoryFormat = "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING";
inline constexpr std::string_view kStorageMeta = "torch.distributed.checkpoint.metadata.StorageMeta";
inline constexpr std::string_view kStorageInfo = "torch.distributed.checkpoint.filesystem._StorageInfo";
inline constexpr std::string_view kSize = "torch.Size";
inline constexpr std::string_view kLayout = "torch.serialization._get_layout";
inline constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
inline constexpr std::string_view kOrderedDict = "collections.OrderedDict";

/// A dtype, "torch.float32", and its class of storage, "torch.FloatStorage".
struct DTypeNames {
  DType dtype;
  std::string_view torch, storage;
};
inline constexpr DTypeNames kDTypes[] = {
    {DType::f64, "torch.float64", "torch.DoubleStorage"}, {DType::f32, "torch.float32", "torch.FloatStorage"},
    {DType::f16, "torch.float16", "torch.HalfStorage"},   {DType::bf16, "torch.bfloat16", "torch.BFloat16Storage"},
    {DType::i64, "torch.int64", "torch.LongStorage"},     {DType::i32, "torch.int32", "torch.IntStorage"},
    {DType::i16, "torch.int16", "torch.ShortStorage"},    {DType::i8, "torch.int8", "torch.CharStorage"},
    {DType::u8, "torch.uint8", "torch.ByteStorage"},      {DType::boolean, "torch.bool", "torch.BoolStorage"},
};

}  // namespace titan::checkpoint::dcp_names
