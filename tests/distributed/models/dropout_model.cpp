// A small model with dropout, for tests: layers x + dropout(linear(norm(x))). Stable tier, as a stranger's would be.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "titan/sdk/model.hpp"

namespace titan::testing {
namespace {

using sdk::Frame;
using sdk::Init;
using sdk::Leaf;
using sdk::Op;
using sdk::Scope;
using sdk::Tensor;

constexpr std::int64_t kDim = 32, kVocab = 2048, kLayers = 4;
constexpr double kKept = 0.75;

class Layer : public sdk::Module {
 public:
  explicit Layer(Scope& s)
      : norm_(s.rms_norm("norm", kDim, 1e-5)),
        linear_(s.linear("linear", kDim, kDim, sdk::Split::replicate, Init::normal(0.2))),
        detach_(s.op("aten::detach")),
        bernoulli_(s.op("aten::bernoulli", "p")) {}

  Tensor forward(Frame& f, const Tensor& x_BLD) const {
    const Tensor h_BLD = f(linear_, f(norm_, x_BLD));
    return x_BLD + h_BLD * (bernoulli_(detach_(h_BLD), kKept) * (1 / kKept));
  }

 private:
  Leaf norm_, linear_;
  Op detach_, bernoulli_;
};

class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{
      .id = "org.titan.test.dropout", .name = "dropout_model", .version = "0.1.0", .license = "Apache-2.0"};

  static void describe(sdk::Describe& d) {
    d.preset({"dropout_small",
              "Four layers with dropout in float64",
              "",
              {{"training.max_context_length", 8},
               {"training.num_tokens_per_microbatch_per_dp_rank", 4 * 8},
               {"training.dtype", "float64"},
               {"training.mixed_precision_param", "float64"},
               {"training.mixed_precision_reduce", "float64"}}});
  }

  explicit Plugin(sdk::Host) {}

  titan_model_facts facts(std::int64_t) const {
    titan_model_facts facts{};
    facts.struct_size = sizeof facts;
    facts.num_layers = kLayers;
    facts.vocab_size = kVocab;
    facts.dim = facts.head_dim = kDim;
    facts.num_heads = facts.num_kv_heads = 1;
    facts.num_parameters = 2 * kVocab * kDim + kLayers * (kDim * kDim + kDim);
    facts.num_flops_per_token = 6.0 * static_cast<double>(facts.num_parameters);
    return facts;
  }

  void build(Scope& root) const {
    root.chain(root.embedding("tok_embeddings", kVocab, kDim, Init::normal(1)));
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      root.chain(root.child<Layer>("layers." + std::to_string(layer)));
    }
    root.chain(root.linear("output", kDim, kVocab, sdk::Split::vocab, Init::normal(0.2)));
    root.loss(root.cross_entropy("loss"));
  }

  std::vector<sdk::HfName> hf_names() const { return {}; }
  std::vector<sdk::HfSetting> hf_config(std::string_view) const {
    throw sdk::ConfigError("[dropout_model] no hub configuration");
  }
};

}  // namespace
}  // namespace titan::testing

TITAN_PLUGIN(titan::testing::Plugin, titan::sdk::ModelInterface);
