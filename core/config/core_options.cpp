#include "core/config/option_builder.hpp"
#include "core/config/registry.hpp"

namespace titan::config {

namespace {

void add_run_options(Registry& registry) {
  registry.add(path("dump_folder", "./outputs",
                    "Folder of everything a run writes: log, metrics, resolved configuration; made when absent.")
                   .may_differ());
  registry.add(path("hf_assets_path", "./tests/assets/tokenizer",
                    "Folder with the tokenizer's files as the Hugging Face hub has them (tokenizer.json)."));
}

void add_training_options(Registry& registry) {
  registry.add(integer("training.steps", 10000, "Number of optimizer steps of the run.").at_least(1));
  registry.add(
      integer("training.num_tokens_per_microbatch_per_dp_rank", 16384,
              "Tokens of one forward and backward on one data-parallel rank; a multiple of the context length.")
          .at_least(1));
  registry.add(integer("training.num_tokens_per_train_step", -1,
                       "Tokens of one optimizer step over all ranks; more than one micro-batch accumulates gradients. "
                       "-1: one micro-batch on each rank.")
                   .at_least(-1));
  registry.add(integer("training.max_context_length", 2048, "Tokens of one row of the batch.").at_least(1));
  registry.add(
      floating("training.max_norm", 1.0, "Global gradient norm above which gradients are scaled down to it.").above(0));
  registry.add(text("training.dtype", "float32", "Type in which parameters and optimizer state are stored.")
                   .one_of({"float32", "bfloat16", "float64"}));
  registry.add(
      text("training.mixed_precision_param", "bfloat16", "Type to which parameters are cast for forward and backward.")
          .one_of({"bfloat16", "float32", "float64"}));
  registry.add(text("training.mixed_precision_reduce", "float32", "Type in which gradients are summed.")
                   .one_of({"float32", "bfloat16", "float64"}));
  registry.add(text("training.device", "auto", "Device to train on; auto takes the best there is.")
                   .one_of({"auto", "cpu", "cuda"}));
  registry.add(integer("training.num_threads", std::nullopt,
                       "Threads of one operator on the CPU; results may differ in the last bits between numbers. "
                       "None: libtorch decides.")
                   .at_least(1)
                   .at_most(4096)
                   .may_differ());
}

void add_optimizer_options(Registry& registry) {
  registry.add(text("optimizer.name", "AdamW", "Optimizer.").one_of({"Adam", "AdamW"}));
  registry.add(floating("optimizer.lr", 8e-4, "Learning rate before the schedule's factor.").at_least(0));
  registry.add(floating("optimizer.beta1", 0.9, "Decay of the running mean of gradients.").at_least(0).below(1));
  registry.add(
      floating("optimizer.beta2", 0.95, "Decay of the running mean of squared gradients.").at_least(0).below(1));
  registry.add(floating("optimizer.eps", 1e-8, "Added to the denominator of the update.").at_least(0));
  registry.add(floating("optimizer.weight_decay", 0.1, "Weight decay of every parameter, norms and embeddings too.")
                   .at_least(0));
  registry.add(text("optimizer.implementation", "fused",
                    "fused: one kernel for all parameters; for-loop: one parameter after the other.")
                   .one_of({"fused", "for-loop"}));
  registry.add(
      tables("optimizer.param_groups",
             "Parameters with settings of their own: pattern (regular expression on the name, the first that "
             "matches counts), optimizer_name, optimizer_kwargs (lr, beta1, beta2, betas, eps, weight_decay)."));
}

void add_schedule_options(Registry& registry) {
  registry.add(integer("lr_scheduler.warmup_steps", 200, "Steps over which the learning rate rises.").at_least(0));
  registry.add(
      integer("lr_scheduler.total_steps", std::nullopt, "Steps of the whole schedule. None: as many as training.steps.")
          .at_least(1));
  registry.add(floating("lr_scheduler.decay_ratio", std::nullopt,
                        "Share of the steps, at the end, over which the learning rate falls. None: all after warm-up.")
                   .at_least(0)
                   .at_most(1));
  registry.add(text("lr_scheduler.decay_type", "linear", "Form of the fall.").one_of({"linear", "sqrt", "cosine"}));
  registry.add(floating("lr_scheduler.min_lr_factor", 0.0, "Factor of the learning rate at the end of the schedule.")
                   .at_least(0)
                   .at_most(1));
}

void add_data_options(Registry& registry) {
  registry.add(path("dataloader.dataset_path", "./tests/assets/corpus",
                    "Text to train on: a .jsonl, .jsonl.gz or .txt file, or a folder of them."));
  registry.add(integer("dataloader.seed", 42, "Seed of the order of documents.").at_least(0));
  registry.add(boolean("dataloader.shuffle", true, "Read documents in a new random order each epoch."));
  registry.add(boolean("dataloader.repeat", true, "Begin again at the end of the data instead of stopping."));
  registry.add(text("dataloader.end_of_data", "stop",
                    "What the run makes of data that ends before its last step, on one rank or all: stop there with "
                    "exit code 0, or end with exit code 65.")
                   .one_of({"stop", "error"}));
  registry.add(integer("dataloader.num_prefetch_batches", 2, "Batches prepared in the background. 0: none.")
                   .at_least(0)
                   .at_most(1024)
                   .may_differ());
  registry.add(integer("dataloader.num_virtual_shards", 128,
                       "Parts the data is cut into, whatever the number of ranks; a data-parallel degree that divides "
                       "it reads only its own parts.")
                   .at_least(1)
                   .at_most(65536));
}

void add_validation_options(Registry& registry) {
  registry.add(boolean("validator.enable", false, "Measure the loss on validation data during training."));
  registry.add(integer("validator.freq", 10, "Steps from one validation to the next.").at_least(1));
  registry.add(integer("validator.steps", -1, "Batches of one validation. -1: all of the data once.").at_least(-1));
  registry.add(
      path("validator.dataset_path", std::nullopt, "Text to validate on. None: the same as dataloader.dataset_path."));
}

void add_parallelism_options(Registry& registry) {
  registry.add(
      integer("parallelism.data_parallel_replicate_degree", 1,
              "Ranks along the axis that holds copies of the weights: above 1 with data_parallel_shard_degree 1 "
              "it is DDP, with a larger one HSDP.")
          .at_least(1));
  registry.add(integer("parallelism.data_parallel_shard_degree", -1,
                       "Ranks along the axis over which weights, gradients and optimizer state are sharded (FSDP). -1: "
                       "all ranks that the other degrees leave.")
                   .at_least(-1));
  registry.add(
      integer("parallelism.tensor_parallel_degree", 1,
              "Ranks that share each layer: its matrices are split by columns and rows, the vocabulary by words.")
          .at_least(1));
  registry.add(integer("parallelism.context_parallel_degree", 1,
                       "Ranks that share each row of tokens: every one has a part of the sequence, and attention goes "
                       "around the ring.")
                   .at_least(1));
  registry.add(integer("parallelism.pipeline_parallel_degree", 1,
                       "Ranks that share the layers: each runs one or several stages of the chain of blocks.")
                   .at_least(1));
  registry.add(integer("parallelism.num_pp_microbatches", 1,
                       "Micro-batches that go through the pipeline together: at least as many as it has ranks.")
                   .at_least(1)
                   .at_most(4096));
  registry.add(
      integer("parallelism.expert_parallel_degree", 1,
              "Ranks over which the experts of a mixture are spread. Folded into the axes dp_shard, cp and tp: "
              "it needs no ranks of its own.")
          .at_least(1));
}

void add_comm_options(Registry& registry) {
  registry.add(text("comm.cpu_backend", "auto",
                    "What carries tensors of the CPU between processes. auto: shared memory between ranks of one "
                    "machine, gloo between others; shm: shared memory, or the run is refused; gloo: gloo.")
                   .one_of({"auto", "shm", "gloo"}));
  registry.add(floating("comm.init_timeout_seconds", 300,
                        "Seconds that ranks wait for each other at the start and in the first step.")
                   .above(0)
                   .at_most(1e7));
  registry.add(
      floating("comm.train_timeout_seconds", 100, "Seconds that ranks wait for each other after the first step.")
          .above(0)
          .at_most(1e7));
  registry.add(text("comm.mode", "default",
                    "default: ranks talk to each other; fake_backend: none runs, the run is rehearsed in one process "
                    "without data, and the view of rank RANK of WORLD_SIZE is shown.")
                   .one_of({"default", "fake_backend"})
                   .may_differ());
  registry.add(integer("comm.trace_buf_size", 20000,
                       "Calls of collectives that each rank remembers, for dumps of the flight recorder.")
                   .at_least(1)
                   .at_most(100'000'000));
}

void add_checkpoint_options(Registry& registry) {
  registry.add(boolean("checkpoint.enable", false, "Save checkpoints, and begin from the newest one there is."));
  registry.add(path("checkpoint.folder", "checkpoint", "Folder of checkpoints, in the dump folder unless absolute.")
                   .may_differ());
  registry.add(integer("checkpoint.interval", 500, "Steps from one checkpoint to the next.").at_least(1));
  registry.add(boolean("checkpoint.enable_first_step_checkpoint", false,
                       "Save after the first step too, to learn early whether saving works."));
  registry.add(
      integer("checkpoint.keep_latest_k", 10, "Checkpoints to keep, at least 2; older ones are removed. 0: all.")
          .at_least(0));
  registry.add(text("checkpoint.async_mode", "disabled",
                    "disabled: training waits until a checkpoint is on disk; async: until its copy in memory is made; "
                    "async_with_pinned_mem: the same, in pinned memory where there is a GPU.")
                   .one_of({"disabled", "async", "async_with_pinned_mem"}));
  registry.add(boolean("checkpoint.last_save_model_only", true,
                       "Save after the last step the model alone: small, but training cannot go on from it."));
  registry.add(boolean("checkpoint.last_save_in_hf", false,
                       "Save after the last step in the form of the Hugging Face hub; with last_save_model_only."));
  registry.add(text("checkpoint.export_dtype", "float32",
                    "Type of the weights that last_save_model_only saves; checkpoints to go on from keep their types.")
                   .one_of({"float16", "bfloat16", "float32"}));
  registry.add(
      integer("checkpoint.load_step", -1, "Step to begin from; newer ones are set aside. -1: the newest that is whole.")
          .at_least(-1));
  registry.add(
      texts("checkpoint.exclude_from_loading", {},
            "What to leave as in a fresh run when loading: optimizer, lr_scheduler, dataloader, train_state."));
  registry.add(path("checkpoint.initial_load_path", std::nullopt,
                    "Step to begin from when the folder has none: of titan, PyTorch's DCP or the Hugging Face hub."));
  registry.add(boolean("checkpoint.initial_load_model_only", true,
                       "Take the weights alone from initial_load_path, and begin at step 0."));
  registry.add(boolean("checkpoint.initial_load_in_hf", false,
                       "Take the weights from files of the Hugging Face hub: initial_load_path, or hf_assets_path."));
  registry.add(boolean("checkpoint.create_seed_checkpoint", false,
                       "Save the initial weights as step 0 and end; on one rank, for layouts to begin alike."));
  registry.add(boolean("checkpoint.load_only", false, "Load a checkpoint, and never save one."));
}

void add_debug_options(Registry& registry) {
  registry.add(integer("debug.seed", std::nullopt, "Seed of initial weights and of dropout. None: drawn at random.")
                   .at_least(0));
  registry.add(boolean("debug.deterministic", false, "Use deterministic algorithms only; others are an error."));
  registry.add(
      boolean("debug.deterministic_warn_only", false,
              "With debug.deterministic: warn of an operator without a deterministic form instead of failing."));
  registry.add(integer("debug.replica_audit_freq", 100,
                       "Steps from one check to the next that replicated gradients have the same bits on every rank "
                       "that has them; the first step is checked too. 0: never.")
                   .at_least(0));
  registry.add(integer("debug.drift_check_freq", 0,
                       "Steps from one check to the next that replicated weights have the same bits on every rank that "
                       "has them, after the update. 0: never.")
                   .at_least(0));
  registry.add(floating("debug.memory_limit_gib", std::nullopt,
                        "GiB of tensors that one process may have; what would exceed it is out of memory, and ends the "
                        "run with exit code 71 and a report. None: what the system gives.")
                   .above(0)
                   .may_differ());
  registry.add(boolean("debug.print_config", false, "Log the resolved configuration at the start.").may_differ());
  registry.add(path("debug.save_config_file", std::nullopt,
                    "File to write the resolved configuration to, besides config.toml in the dump folder.")
                   .may_differ());
}

}  // namespace

void add_core_options(Registry& registry) {
  add_run_options(registry);
  add_training_options(registry);
  add_optimizer_options(registry);
  add_schedule_options(registry);
  add_data_options(registry);
  add_validation_options(registry);
  add_parallelism_options(registry);
  add_comm_options(registry);
  add_checkpoint_options(registry);
  add_debug_options(registry);
}

}  // namespace titan::config
