#pragma once

#include <memory>
#include <string>

#include "core/config/engine.hpp"
#include "core/data/tokenizer.hpp"
#include "core/optim/adamw.hpp"
#include "core/train/ranks/strategies.hpp"
#include "core/train/run_options.hpp"
#include "core/train/validator.hpp"

namespace titan::train {

/// Asks the model plugin for its facts at a sequence length.
titan_model_facts model_facts(const EngineRun& run, std::int64_t length);

/// Opens the training data and says in the log what it holds.
data::Loader open_training_data(const RunOptions& options, const std::shared_ptr<const data::Tokenizer>& tokenizer,
                                const StopFlag* stop);

/// Lets the model plugin declare its modules in the tree, and checks them.
void build_tree(const EngineRun& run, nn::Tree& tree);

/// Makes the tree's parameters, after one seed for all ranks: debug.seed, or what rank 0 draws. Without values they
/// have shapes alone.
void materialise(const RunOptions& options, Ranks& ranks, nn::Tree& tree, bool has_values = true);

/// An optimizer over all parameters of the tree; tells its groups in the log when there are several.
optim::AdamOptimizer make_optimizer(const RunOptions& options, const nn::Tree& tree);

/// The schedule of the learning rate; warns of what was adjusted.
optim::LrSchedule make_schedule(const RunOptions& options);

/// Opens the validation data; null when there is to be no validation. Tree and what `shared` names must outlive it.
std::unique_ptr<Validator> make_validator(const RunOptions& options, nn::Tree& tree,
                                          std::shared_ptr<const data::Tokenizer> tokenizer, Ranks& ranks,
                                          Strategies& strategies, Pipeline* pipeline, const StopFlag* stop);

/// What the observers are told at the begin. The event borrows from options and device name.
titan_run_event run_event(const RunOptions& options, const nn::Tree& tree, const titan_model_facts& facts,
                          const std::string& device_name);

/// Says in the log what is about to be trained.
void announce(const EngineRun& run, const RunOptions& options, const Ranks& ranks, const titan_run_event& event);

}  // namespace titan::train
