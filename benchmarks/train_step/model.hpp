#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/registry.hpp"
#include "core/data/tokenizer.hpp"
#include "core/nn/tree.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/run_options.hpp"
#include "core/train/trainer.hpp"

namespace titan::benchmark {

/// What is measured: llama3_debugmodel at one size and precision.
struct Case {
  std::string name;     // "big fp32"
  std::int64_t rows;    // of a step
  std::int64_t length;  // tokens of a row
  bool bf16;            // compute dtype; weights are stored in fp32 either way
  std::vector<std::pair<std::string, std::string>> settings = {};  // more options and their values
};

/// Where text and tokenizer come from.
struct Inputs {
  std::string dataset;
  std::string tokenizer;
};

/// The production code at work: the model plugin's tree under titan's trainer, as `titan train` runs it.
class TitanRun {
 public:
  TitanRun(const Case& chosen, const Inputs& inputs);

  train::StepResult step();
  const nn::Tree& tree() const { return tree_; }
  const train::RunOptions& options() const { return options_; }
  std::int64_t num_heads() const { return config_.integer("model.n_heads"); }
  /// Another source of the same batches, from the first one on.
  std::unique_ptr<train::BatchSource> open_data() const;

 private:
  config::Registry registry_;
  plugin::PluginRegistry plugins_;
  config::Config config_;
  std::unique_ptr<plugin::Instance> model_;
  train::RunOptions options_;
  std::shared_ptr<const data::Tokenizer> tokenizer_;
  std::unique_ptr<train::BatchSource> source_;
  nn::Tree tree_;
  std::unique_ptr<train::Trainer> trainer_;
};

}  // namespace titan::benchmark
