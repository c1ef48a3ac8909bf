#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/runner/titan.hpp"
#include "tests/support/vectors.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

/// The reference Llama as transformers saved it, and what `titan checkpoint` makes of it.
class CheckpointTest : public CliTest {
 protected:
  void SetUp() override { TITAN_REQUIRE_VECTORS("hf_sharded"); }

  static std::string vectors(const fs::path& name) { return testing::vectors_dir() / name; }

  Outcome checkpoint(std::initializer_list<std::string> args) const { return titan({"checkpoint"}).args(args).run(); }

  /// Makes a titan step of the reference weights in the test's folder.
  void make_step(const std::string& name) const {
    fs::create_directories((folder_ / name).parent_path());
    ASSERT_THAT(checkpoint({"convert", vectors("hf_sharded"), name, "--to", "titan", "--module", "llama3"}),
                ExitsWith(0));
  }

  /// Changes one byte of a file, `from_end` bytes before its end.
  void flip(const fs::path& name, std::streamoff from_end) const {
    std::fstream file(folder_ / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-from_end, std::ios::end);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(-from_end, std::ios::end);
    file.put(byte);
  }

  std::string shard(const std::string& step) const { return step + "/shard-00000-of-00001.safetensors"; }

  /// Names in the test's folder with "target" in them.
  std::vector<std::string> targets() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      if (name.find("target") != std::string::npos) names.push_back(name);
    }
    return names;
  }
};

TEST_F(CheckpointTest, InspectShowsFilesOfTheHub) {
  const Outcome outcome = checkpoint({"inspect", vectors("hf_sharded"), "--tensors"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("format  hugging_face\n"));
  EXPECT_THAT(outcome, Prints("model   30 tensors, 204224 elements, 797.8 KiB, float32\n"));
  EXPECT_THAT(outcome, Prints("lm_head.weight                                  float32  [512, 64]  128 KiB  1 part\n"));
}

TEST_F(CheckpointTest, InspectTellsScriptsExactSizes) {
  make_step("step-3");
  const Outcome outcome = checkpoint({"inspect", "step-3", "--json", "--tensors"});
  ASSERT_THAT(outcome, ExitsWith(0));
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["format"], "titan");
  EXPECT_EQ(json["manifest"]["step"], 3);
  EXPECT_EQ(json["manifest"]["contents"], "model_only");
  EXPECT_EQ(json["manifest"]["module"], "llama3");
  EXPECT_EQ(json["size"], fs::file_size(folder_ / shard("step-3")));
  EXPECT_EQ(json["num_tensors"], 30);
  EXPECT_EQ(json["tensors"][0]["name"], "layers.0.attention.wk.weight");
  EXPECT_EQ(json["tensors"][0]["size"], 32 * 64 * 4);
}

TEST_F(CheckpointTest, InspectListsStepsAndMarksTheNewest) {
  make_step("steps/step-9");
  make_step("steps/step-10");
  fs::create_directories(folder_ / "steps/step-11");
  make_step("steps/step-12");
  fs::remove(folder_ / shard("steps/step-12"));
  const Outcome outcome = checkpoint({"inspect", "steps/"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("steps: 4 steps\n"));
  EXPECT_THAT(outcome, Prints("step-9   titan  model_only  8"));
  EXPECT_THAT(outcome, Prints(" KiB  newest\n"));
  EXPECT_THAT(outcome, Prints("step-11  -      -           -          not committed: there is no checkpoint in it\n"));
  EXPECT_THAT(outcome, Prints("step-12  titan  -           -          not committed: a file is missing: "
                              "shard-00000-of-00001.safetensors\n"));
  const auto json = nlohmann::json::parse(checkpoint({"inspect", "steps", "--json"}).out);
  EXPECT_EQ(json["newest"], 10);
  EXPECT_EQ(json["steps"][1]["contents"], "model_only");
  EXPECT_GT(json["steps"][1]["size"], fs::file_size(folder_ / shard("steps/step-10")));
  EXPECT_EQ(json["steps"][3]["is_committed"], false);
}

TEST_F(CheckpointTest, VerifySaysWhatIsRight) {
  make_step("steps/step-1");
  make_step("steps/step-2");
  const Outcome outcome = checkpoint({"verify", "steps"});
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("step-1: intact: 2 files, "));
  EXPECT_THAT(outcome, Prints("step-2: intact: 2 files, "));
  EXPECT_THAT(outcome, Prints(", every hash\n"));
  EXPECT_THAT(checkpoint({"verify", vectors("hf_sharded")}), Prints("there are no hashes in hugging_face\n"));
}

TEST_F(CheckpointTest, VerifyNamesFileAndTensorOfADamage) {
  make_step("steps/step-1");
  make_step("steps/step-2");
  flip(shard("steps/step-2"), 1);
  const Outcome outcome = checkpoint({"verify", "steps"});
  EXPECT_THAT(outcome, ExitsWith(65));
  EXPECT_THAT(outcome, Prints("step-1: intact: "));
  EXPECT_THAT(outcome, Prints("step-2: damaged\n  shard-00000-of-00001.safetensors: damaged: "));
  EXPECT_THAT(outcome, Prints("in layers.0.attention.wk.weight, "));
  EXPECT_THAT(outcome, Says("1 of 2 steps are damaged: step-2, in steps"));
}

TEST_F(CheckpointTest, VerifyMissesNoStepThatLostItsManifest) {
  make_step("steps/step-1");
  fs::remove(folder_ / "steps/step-1/MANIFEST.json");
  for (const char* word : {"steps", "steps/step-1"}) {
    const Outcome outcome = checkpoint({"verify", word});
    EXPECT_THAT(outcome, ExitsWith(65)) << word;
    EXPECT_THAT(outcome, Says("step-1")) << word;
  }
  fs::remove_all(folder_ / "steps/step-1");
  fs::create_directories(folder_ / "steps/step-2");
  const Outcome nothing = checkpoint({"verify", "steps"});
  EXPECT_THAT(nothing, ExitsWith(66));
  EXPECT_THAT(nothing, Prints("step-2: left out: there is no checkpoint in it\n"));
}

TEST_F(CheckpointTest, VerifyComparesChecksumsOfADistributedCheckpoint) {
  make_step("step-0");
  ASSERT_THAT(checkpoint({"convert", "step-0", "dcp", "--to", "dcp"}), ExitsWith(0));
  EXPECT_THAT(checkpoint({"verify", "dcp"}), Prints(", the structure, and every checksum there is\n"));
  flip("dcp/__0_0.distcp", static_cast<std::streamoff>(fs::file_size(folder_ / "dcp/__0_0.distcp") / 2));
  const Outcome outcome = checkpoint({"verify", "dcp"});
  EXPECT_THAT(outcome, ExitsWith(65));
  EXPECT_THAT(outcome, Prints("dcp: damaged\n  __0_0.distcp: "));
  EXPECT_THAT(outcome, Prints(".weight: damaged: bytes "));
}

TEST_F(CheckpointTest, ConvertWritesNothingIntoItsSource) {
  make_step("step-0");
  const Outcome outcome = checkpoint({"convert", "step-0", "step-0/hub", "--to", "hugging_face"});
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("one of source and target is inside the other: step-0, step-0/hub"));
  EXPECT_FALSE(fs::exists(folder_ / "step-0/hub"));
}

TEST_F(CheckpointTest, VerifyFindsWhatIsMissingOrBroken) {
  for (const char* file : {"index.json", "shard-00000-of-00001.safetensors", "MANIFEST.json"}) {
    const TemporaryFolder folder;
    const std::string step = folder / "step-1";
    ASSERT_THAT(checkpoint({"convert", vectors("hf_sharded"), step, "--to", "titan", "--module", "llama3"}),
                ExitsWith(0));
    std::ofstream(fs::path(step) / file) << "{";
    const Outcome outcome = checkpoint({"verify", step});
    EXPECT_THAT(outcome, ExitsWith(65)) << file;
    EXPECT_THAT(outcome, Prints(file)) << file;
  }
}

TEST_F(CheckpointTest, EveryFormComesBackTheSame) {
  make_step("step-0");
  ASSERT_THAT(checkpoint({"convert", "step-0", "dcp", "--to", "dcp"}), ExitsWith(0));
  ASSERT_THAT(checkpoint({"convert", "dcp", "again", "--to", "titan", "--module", "llama3", "--config",
                          vectors("hf_sharded/config.json")}),
              ExitsWith(0));
  const Outcome outcome = checkpoint({"convert", "again", "hub", "--to", "hugging_face"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("converted again (titan) to hub (hugging_face) in "));
  EXPECT_TRUE(read(folder_ / "hub/model.safetensors") == read(vectors("llama3_tiny/model_hf.safetensors")))
      << "the files differ";
  for (const char* form : {"dcp", "again", "hub"}) {
    EXPECT_THAT(checkpoint({"diff", "step-0", form}), Prints("equal, bit for bit: 30 tensors, 797.8 KiB\n")) << form;
  }
}

TEST_F(CheckpointTest, ADistributedCheckpointKeepsAllOfTheTraining) {
  TITAN_REQUIRE_VECTORS("dcp_2rank");
  const Outcome outcome = checkpoint({"convert", vectors("dcp_2rank/checkpoint"), "step-3", "--to", "titan"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("step-3 is the newest of 1 step\n"));
  const Outcome inspected = checkpoint({"inspect", "step-3"});
  EXPECT_THAT(inspected, Prints("contents     full\n"));
  EXPECT_THAT(inspected, Prints("train state  step 3, 192 tokens, schedule at step 3"));
  EXPECT_THAT(checkpoint({"diff", "step-3", vectors("dcp_2rank/checkpoint")}),
              Prints("equal, bit for bit: 84 tensors"));
  EXPECT_THAT(checkpoint({"convert", "step-3", "step-4", "--to", "titan"}), ExitsWith(73)) << "the name is another's";
}

TEST_F(CheckpointTest, ADtypeIsForTheModelAlone) {
  TITAN_REQUIRE_VECTORS("dcp_2rank");
  const std::string whole = vectors("dcp_2rank/checkpoint");
  for (const char* form : {"titan", "dcp"}) {
    ASSERT_THAT(checkpoint({"convert", whole, form, "--to", form, "--dtype", "bfloat16"}), ExitsWith(0));
    EXPECT_THAT(checkpoint({"inspect", form}), Prints("21 tensors, 42464 elements, 82.9 KiB, bfloat16\n"));
    EXPECT_THAT(checkpoint({"diff", form, whole, "--model-only"}), ExitsWith(1));
    EXPECT_THAT(checkpoint({"diff", form, whole, "--model-only", "--tolerance", "0.01"}), ExitsWith(0));
  }
  EXPECT_THAT(checkpoint({"diff", "titan", "dcp"}), ExitsWith(0));
}

TEST_F(CheckpointTest, ConvertTakesTheNewestStep) {
  make_step("steps/step-9");
  make_step("steps/step-10");
  const Outcome outcome = checkpoint({"convert", "steps", "hub/", "--to", "hugging_face"});
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("steps: step-10 is the newest of 2 steps\n"));
}

TEST_F(CheckpointTest, ConvertOverwritesNothing) {
  make_step("step-0");
  folder_.write("full/file", "mine");
  folder_.write("file", "mine");
  fs::create_directories(folder_ / "empty");
  for (const char* target : {"full", "file", "none/target"}) {
    EXPECT_THAT(checkpoint({"convert", "step-0", target, "--to", "dcp"}), ExitsWith(73)) << target;
  }
  EXPECT_EQ(read(folder_ / "full/file"), "mine");
  EXPECT_THAT(checkpoint({"convert", "step-0", "empty", "--to", "dcp"}), ExitsWith(0));
}

TEST_F(CheckpointTest, ConvertLeavesNothingOfAFailure) {
  make_step("step-0");
  flip(shard("step-0"), 1);
  for (const char* form : {"titan", "dcp", "hugging_face"}) {
    const Outcome outcome = checkpoint({"convert", "step-0", "target", "--to", form});
    EXPECT_THAT(outcome, ExitsWith(65)) << form;
    EXPECT_THAT(outcome, Says("step-0/shard-00000-of-00001.safetensors: bytes ")) << form;
    EXPECT_THAT(targets(), ::testing::IsEmpty()) << form;
  }
}

TEST_F(CheckpointTest, ConvertNeedsAModelForNames) {
  fs::copy(vectors("hf_sharded"), folder_ / "hub");
  EXPECT_THAT(checkpoint({"convert", "hub", "step-0", "--to", "titan"}), Says("Name it with --module: "));
  fs::remove(folder_ / "hub/config.json");
  const Outcome outcome = checkpoint({"convert", "hub", "step-0", "--to", "titan"});
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("name it with --module and --config: hub"));
  const Outcome other =
      checkpoint({"convert", "hub", "step-0", "--to", "titan", "--module", "llama3", "--config", "llama3_debugmodel"});
  EXPECT_THAT(other, ExitsWith(65));
  EXPECT_THAT(other, Says("the checkpoint lacks parameters of the model: layers.3.attention.wq.weight, "));
}

TEST_F(CheckpointTest, WordsAreChecked) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"inspect"},
                                             {"verify", "a", "b"},
                                             {"convert", "a"},
                                             {"convert", "a", "b"},
                                             {"diff", "a"},
                                             {"convert", "a", "b", "--to", "zip"},
                                             {"convert", "a", "b", "--to", "dcp", "--dtype", "int8"},
                                             {"diff", "a", "b", "--tolerance", "-1"}}) {
    EXPECT_THAT(titan({"checkpoint"}).args(words).run(), ExitsWith(64)) << words.front() << " " << words.size();
  }
  folder_.write("empty/file", "");
  for (const char* word : {"none", "empty", "empty/file"}) {
    EXPECT_THAT(checkpoint({"inspect", word}), ExitsWith(66)) << word;
    EXPECT_THAT(checkpoint({"verify", word}), ExitsWith(66)) << word;
    EXPECT_THAT(checkpoint({"convert", word, "target", "--to", "dcp"}), ExitsWith(66)) << word;
    EXPECT_THAT(checkpoint({"diff", word, word}), ExitsWith(66)) << word;
  }
}

TEST_F(CheckpointTest, DiffNamesTheWorstTensor) {
  make_step("step-0");
  ASSERT_THAT(checkpoint({"convert", "step-0", "hub", "--to", "hugging_face"}), ExitsWith(0));
  flip("hub/model.safetensors", 2);  // the last element of the last tensor
  const Outcome outcome = checkpoint({"diff", "step-0", "hub"});
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Prints("values that differ, the worst first:\n"));
  EXPECT_THAT(outcome, Prints("  norm.weight  "));
  EXPECT_THAT(outcome, Says("[checkpoint] the checkpoints differ: step-0, hub: tensors: 1 of other values"));
  EXPECT_THAT(checkpoint({"diff", "step-0", "hub", "--tolerance", "0.5"}), ExitsWith(0));
}

TEST_F(CheckpointTest, NoVerbOpensTheEngine) {
  make_step("step-0");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"inspect", "step-0"},
                                             {"verify", "step-0"},
                                             {"convert", "step-0", "hub", "--to", "hugging_face"},
                                             {"diff", "step-0", "hub"}}) {
    const Outcome outcome = titan({"checkpoint"}).args(words).env("LD_DEBUG", "files").run();
    ASSERT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("libc.so"));
    EXPECT_THAT(outcome.err, ::testing::Not(::testing::HasSubstr("libtorch"))) << words.front();
    EXPECT_THAT(outcome.err, ::testing::Not(::testing::HasSubstr("libtitan_engine"))) << words.front();
  }
}

/// What runs save, and begin from.
class CheckpointRunTest : public TrainTest {
 protected:
  Outcome checkpoint(std::initializer_list<std::string> args) const { return titan({"checkpoint"}).args(args).run(); }

  /// Trains two steps from `begin`, which saves into `folder`.
  Outcome train(const std::vector<std::string>& model, const std::string& folder,
                std::initializer_list<std::string> begin) const {
    return tiny_run({"--training.steps=2", "--debug.seed=1", "--checkpoint.enable",
                     "--checkpoint.last_save_model_only=false", "--dump_folder", folder})
        .args(model)
        .args(begin)
        .run();
  }
  const std::vector<std::string> mixture_{
      "--module", "qwen3", "--config", "qwen3_debugmodel_moe", "--model.dim=32", "--model.n_layers=1"};
};

TEST_F(CheckpointRunTest, ARunBeginsWithAModelOfTheHub) {
  ASSERT_THAT(train({}, "one", {}), ExitsWith(0));
  EXPECT_THAT(checkpoint({"verify", "one/checkpoint"}), Prints("step-2: intact: 3 files, "));
  EXPECT_THAT(checkpoint({"inspect", "one/checkpoint/step-2"}), Prints("with the place in the data\n"));
  ASSERT_THAT(checkpoint({"convert", "one/checkpoint", "hub", "--to", "hugging_face"}), ExitsWith(0));
  ASSERT_THAT(train({}, "two",
                    {"--checkpoint.initial_load_path=hub", "--checkpoint.initial_load_in_hf", "--optimizer.lr=0",
                     "--checkpoint.last_save_model_only", "--checkpoint.last_save_in_hf"}),
              ExitsWith(0));
  EXPECT_THAT(checkpoint({"verify", "two/checkpoint"}), Prints("step-2: intact: 1 file, "));
  EXPECT_THAT(checkpoint({"diff", "one/checkpoint", "two/checkpoint", "--model-only"}), ExitsWith(0))
      << "a learning rate of 0 changes nothing";
}

TEST_F(CheckpointRunTest, AMixtureLeavesItsBiasesBehind) {
  ASSERT_THAT(train(mixture_, "one", {}), ExitsWith(0));
  const Outcome outcome = checkpoint({"convert", "one/checkpoint", "hub", "--to", "hugging_face"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome,
              Says("no biases that balance experts, they are left out: 1, the first is layers.0.moe.expert_bias"));
  EXPECT_THAT(checkpoint({"inspect", "hub", "--tensors"}), Prints("model.layers.0.mlp.experts.7.down_proj.weight "));
  EXPECT_THAT(train(mixture_, "two", {"--checkpoint.initial_load_path=hub", "--checkpoint.initial_load_in_hf"}),
              ExitsWith(0));
}

TEST_F(CheckpointRunTest, ARunGoesOnFromADistributedCheckpoint) {
  ASSERT_THAT(train({}, "one", {}), ExitsWith(0));
  fs::create_directories(folder_ / "two/checkpoint");
  ASSERT_THAT(checkpoint({"convert", "one/checkpoint", "dcp", "--to", "dcp"}), ExitsWith(0));
  ASSERT_THAT(checkpoint({"convert", "dcp", "two/checkpoint/step-2", "--to", "titan"}), ExitsWith(0));
  EXPECT_THAT(train({}, "two", {"--training.steps=3"}), Says("exclude_from_loading dataloader"));
  EXPECT_THAT(train({}, "two", {"--training.steps=3", "--checkpoint.exclude_from_loading=dataloader"}), ExitsWith(0));
  EXPECT_THAT(checkpoint({"inspect", "two/checkpoint"}), Prints("step-3  titan  full"));
}

}  // namespace
}  // namespace titan::cli
