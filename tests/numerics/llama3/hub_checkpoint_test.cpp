#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.hpp"
#include "core/train/checkpoint/hub_save.hpp"
#include "core/train/checkpoint/load.hpp"
#include "core/train/checkpoint/state_tensors.hpp"
#include "tests/numerics/llama3/reference.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/vectors.hpp"

namespace titan::testing {
namespace {

constexpr const char* kModelOfHub = "llama3_tiny/model_hf.safetensors";

/// The reference model as a run has it whose checkpoints are files of the hub.
class HubCheckpoint : public ::testing::TestWithParam<Reference> {
 protected:
  void SetUp() override {
    TITAN_REQUIRE_REFERENCE(GetParam());
    TITAN_REQUIRE_VECTORS("hf_sharded");
    TITAN_REQUIRE_VECTORS(kModelOfHub);
  }

  /// A model with fresh weights, or with those of a folder of the hub.
  static std::unique_ptr<Llama> fresh() {
    return std::make_unique<Llama>("", translate_hub_config(vectors_dir() / GetParam().config()),
                                   same_precision(at::kFloat));
  }
  static std::unique_ptr<Llama> loaded(const std::filesystem::path& folder) {
    std::unique_ptr<Llama> llama = fresh();
    optim::AdamOptimizer optimizer(llama->parameters(), {}, {}, optim::Implementation::fused);
    train::LoadTarget target{llama->tree(), optimizer, [&] { return llama->hub_names(); }, {}};
    checkpoint::Options options;
    options.enable = true;
    options.folder = folder / "none";
    options.initial_load_path = folder;
    options.initial_load_in_hf = true;
    checkpoint::Alone team;
    EXPECT_FALSE(train::load_checkpoint(team, options, target).state);
    return llama;
  }

  /// Saves the weights as step 7 in the form of the hub, and returns its folder.
  std::filesystem::path save(Llama& llama, checkpoint::DType dtype) const {
    checkpoint::Options options;
    options.folder = folder_.path();
    options.export_dtype = dtype;
    train::HubStep step;
    step.step = 7;
    step.names = llama.hub_names();
    const std::vector<train::StateTensor> tensors = train::state_tensors(llama.tree(), nullptr);
    for (const train::StateTensor& tensor : tensors) step.parts.push_back(train::held(tensor));
    checkpoint::Alone team;
    train::save_hub_step(team, options, step);
    return folder_ / "step-7";
  }

  test::TemporaryFolder folder_;
};

TEST_P(HubCheckpoint, LogitsAreThoseOfTheReference) {
  const NamedTensors expected = load_vectors(GetParam().file("forward.safetensors"));
  const auto llama = loaded(vectors_dir() / "hf_sharded");
  const at::Tensor logits = llama->logits(expected.at("tokens"));
  EXPECT_LE((logits - expected.at("logits")).abs().max().item<double>(), 3e-5);
}

TEST_P(HubCheckpoint, FilesAreThoseOfTheReference) {
  const auto llama = load_reference(GetParam());
  const std::filesystem::path folder = save(*llama, checkpoint::DType::f32);
  constexpr std::uint64_t kLimit = 1 << 20;
  EXPECT_TRUE(read_file(folder / "model.safetensors", kLimit) == read_file(vectors_dir() / kModelOfHub, kLimit))
      << "the files differ";
  const at::Tensor tokens = load_vectors(GetParam().file("forward.safetensors")).at("tokens");
  EXPECT_TRUE(loaded(folder)->logits(tokens).equal(llama->logits(tokens))) << "and back";
}

TEST_P(HubCheckpoint, ExportsInBfloat16) {
  const auto llama = load_reference(GetParam());
  const NamedTensors exported = load_safetensors(save(*llama, checkpoint::DType::bf16) / "model.safetensors");
  const NamedTensors expected = load_vectors(kModelOfHub);
  ASSERT_EQ(exported.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    EXPECT_TRUE(exported.at(name).equal(tensor.to(at::kBFloat16))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, HubCheckpoint, ::testing::ValuesIn(distinct_references()),
                         [](const auto& param) { return param.param.name(); });

}  // namespace
}  // namespace titan::testing
