#include "tests/numerics/llama3/reference.hpp"

#include <algorithm>

#include "tests/support/vectors.hpp"

namespace titan::testing {

std::string Reference::weights() const {
  return hub_names ? "llama3_tiny/model_hf.safetensors" : "llama3_tiny/model.safetensors";
}

std::string Reference::config() const {
  return transformers5 ? "llama3_tiny/config_as_saved_by_transformers5_" + variant + "/config.json"
                       : file("config.json");
}

std::string Reference::name() const {
  return (variant.empty() ? "none" : variant) + (hub_names ? "_hub_names" : "_own_names") +
         (transformers5 ? "_rope_parameters" : "_rope_scaling");
}

std::vector<Reference> references() {
  const std::filesystem::path folder = vectors_dir() / "llama3_tiny";
  std::vector<std::string> variants;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (std::filesystem::exists(entry.path() / "forward.safetensors")) variants.push_back(entry.path().filename());
  std::ranges::sort(variants);
  if (variants.empty()) variants.emplace_back();
  std::vector<Reference> all;
  for (const std::string& variant : variants)
    for (const bool hub_names : {false, true})
      for (const bool transformers5 : {false, true}) all.push_back({variant, hub_names, transformers5});
  return all;
}

std::vector<Reference> distinct_references() {
  std::vector<Reference> all = references();
  std::erase_if(all, [](const Reference& reference) { return reference.hub_names != reference.transformers5; });
  return all;
}

NamedTensors load_vectors(const std::string& file) { return load_safetensors(vectors_dir() / file); }

std::unique_ptr<Llama> load_reference(const Reference& reference, at::ScalarType dtype) {
  auto llama =
      std::make_unique<Llama>("", translate_hub_config(vectors_dir() / reference.config()), same_precision(dtype));
  if (reference.hub_names) {
    llama->load_hf(load_vectors(reference.weights()));
  } else {
    llama->load(load_vectors(reference.weights()));
  }
  return llama;
}

std::ostream& operator<<(std::ostream& out, const Reference& reference) { return out << reference.name(); }

}  // namespace titan::testing
