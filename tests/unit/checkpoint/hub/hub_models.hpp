#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/safetensors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/vectors.hpp"

namespace titan::checkpoint {

using Bytes = std::vector<std::byte>;

/// A whole tensor of a source, row-major, in the dtype it is stored in.
inline Bytes content(const Source& source, const std::string& name) {
  const StoredTensor& stored = source.tensors.at(name);
  Bytes bytes(static_cast<std::size_t>(num_elements(stored.shape)) * element_size(stored.dtype));
  const WantedPart wanted{{name, stored.dtype, stored.shape},
                          {std::vector<std::int64_t>(stored.shape.size(), 0), stored.shape},
                          bytes.data()};
  read_parts(source, {&wanted, 1});
  return bytes;
}

template <class Element>
std::vector<Element> elements(const Source& source, const std::string& name) {
  const Bytes bytes = content(source, name);
  std::vector<Element> values(bytes.size() / sizeof(Element));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The names of the tensors of a source, in order.
inline std::vector<std::string> names_of(const Source& source) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : source.tensors) names.push_back(name);
  return names;
}

/// A tensor of a file to be made.
struct MadeTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// Writes a safetensors file of float32 tensors.
inline void write_tensors(const std::filesystem::path& path, const std::vector<MadeTensor>& tensors) {
  std::vector<SafetensorsEntry> entries;
  for (const MadeTensor& tensor : tensors) entries.push_back({{tensor.name, DType::f32, tensor.shape}, 0, 0});
  std::ofstream file(path, std::ios::binary);
  file << write_safetensors_header(entries, {}, 8);
  for (const MadeTensor& tensor : tensors) {
    file.write(reinterpret_cast<const char*>(tensor.values.data()),
               static_cast<std::streamsize>(tensor.values.size() * sizeof(float)));
  }
}

/// The names of the Llama of the reference vectors: 3 layers, 8 heads, 4 heads of keys.
inline std::vector<HubName> tiny_llama_names() {
  using enum HubTransform;
  std::vector<HubName> names{{"tok_embeddings.weight", "model.embed_tokens.weight"}};
  for (int layer = 0; layer < 3; ++layer) {
    const std::string ours = "layers." + std::to_string(layer) + ".", theirs = "model." + ours;
    names.push_back({ours + "attention.wq.weight", theirs + "self_attn.q_proj.weight", rope_halves, 8});
    names.push_back({ours + "attention.wk.weight", theirs + "self_attn.k_proj.weight", rope_halves, 4});
    names.push_back({ours + "attention.wv.weight", theirs + "self_attn.v_proj.weight"});
    names.push_back({ours + "attention.wo.weight", theirs + "self_attn.o_proj.weight"});
    names.push_back({ours + "feed_forward.w1.weight", theirs + "mlp.gate_proj.weight"});
    names.push_back({ours + "feed_forward.w2.weight", theirs + "mlp.down_proj.weight"});
    names.push_back({ours + "feed_forward.w3.weight", theirs + "mlp.up_proj.weight"});
    names.push_back({ours + "attention_norm.weight", theirs + "input_layernorm.weight"});
    names.push_back({ours + "ffn_norm.weight", theirs + "post_attention_layernorm.weight"});
  }
  names.push_back({"norm.weight", "model.norm.weight"});
  names.push_back({"output.weight", "lm_head.weight"});
  return names;
}

/// The reference weights under the hub's names, in one file.
inline Source reference_of_hub(const test::TemporaryFolder& folder) {
  std::filesystem::create_directories(folder / "reference");
  std::filesystem::copy_file(testing::vectors_dir() / "llama3_tiny" / "model_hf.safetensors",
                             folder / "reference/model.safetensors");
  return open_hub(folder / "reference");
}

}  // namespace titan::checkpoint
