#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/numerics/llama3/llama.hpp"

namespace titan::testing {

/// One way to set up the reference model: a variant's folder, the weights' naming, the form of config.json.
struct Reference {
  std::string variant;         // "plain", "scaled"; empty: the folder of vectors has none
  bool hub_names = false;      // model_hf.safetensors instead of model.safetensors
  bool transformers5 = false;  // config_as_saved_by_transformers5_VARIANT/config.json instead of VARIANT/config.json

  /// Files relative to the folder of vectors.
  std::string file(const std::string& name) const { return "llama3_tiny/" + variant + "/" + name; }
  std::string weights() const;
  std::string config() const;
  std::string name() const;
};

/// Every folder of llama3_tiny with a forward.safetensors, in every naming and form.
std::vector<Reference> references();
/// Of every variant the two that share neither naming nor form.
std::vector<Reference> distinct_references();

/// Reads a safetensors file relative to the folder of vectors.
NamedTensors load_vectors(const std::string& file);

/// The reference model with its weights.
std::unique_ptr<Llama> load_reference(const Reference& reference, at::ScalarType dtype = at::kFloat);

std::ostream& operator<<(std::ostream& out, const Reference& reference);

}  // namespace titan::testing

/// Skips the running test, naming the file, when the folder of vectors lacks what `reference` needs.
#define TITAN_REQUIRE_REFERENCE(reference)      \
  TITAN_REQUIRE_VECTORS((reference).config());  \
  TITAN_REQUIRE_VECTORS((reference).weights()); \
  TITAN_REQUIRE_VECTORS((reference).file("forward.safetensors"))
