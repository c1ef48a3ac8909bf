#include <sys/stat.h>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

/// Configuration files, good and bad, through the real program.
class FileTest : public CliTest {
 protected:
  Outcome load(const fs::path& file) const { return titan({"config", "--config", file}).run(); }
  Outcome load_text(const std::string& toml) const { return load(folder_.write("run.toml", toml)); }
};

TEST_F(FileTest, AMissingFile) {
  const Outcome outcome = load(folder_ / "absent.toml");
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("absent.toml"));
}

TEST_F(FileTest, AnUnreadableFile) {
  const fs::path file = folder_.write("run.toml", "module = \"llama3\"\n");
  fs::permissions(file, fs::perms::none);
  EXPECT_THAT(load(file), ExitsWith(66));
}

TEST_F(FileTest, AFolderOrAPipe) {
  fs::create_directory(folder_ / "folder.toml");
  EXPECT_THAT(load(folder_ / "folder.toml"), ExitsWith(66));
  ASSERT_EQ(::mkfifo((folder_ / "pipe.toml").c_str(), 0600), 0);
  EXPECT_THAT(titan({"config", "--config", folder_ / "pipe.toml"}).limit(20).run(), ExitsWith(66));
}

TEST_F(FileTest, BrokenTomlHasItsPlace) {
  const Outcome outcome = load_text("module = \"llama3\"\n[training]\nsteps = = 3\n");
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("run.toml:3:"));
}

TEST_F(FileTest, AnUnknownKeyHasItsPlaceAndASuggestion) {
  const Outcome outcome = load_text("module = \"llama3\"\n[training]\nstepz = 3\n");
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("run.toml:3:1"));
  EXPECT_THAT(outcome, Says("training.steps"));
}

TEST_F(FileTest, AWrongTypeHasItsPlace) {
  const Outcome outcome = load_text("module = \"llama3\"\n[training]\nsteps = \"many\"\n");
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("run.toml:3:"));
}

TEST_F(FileTest, AllMistakesAtOnce) {
  const Outcome outcome = load_text("[training]\nsteps = 0\ndtype = \"float16\"\n[optimizer]\nlr = true\n");
  EXPECT_THAT(outcome, ExitsWith(78));
  for (const char* place : {"run.toml:2:", "run.toml:3:", "run.toml:5:"}) EXPECT_THAT(outcome, Says(place));
}

TEST_F(FileTest, AFileMayNameModuleAndBase) {
  const Outcome outcome = load_text("module = \"llama3\"\nconfig = \"llama3_8b\"\n[training]\nsteps = 12\n");
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("preset llama3_8b"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("steps *= *12 .*run.toml:4"));
}

TEST_F(FileTest, AHubFileBecomesAModel) {
  const fs::path file = folder_.write("config.json", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 512, "rms_norm_eps": 1e-05, "rope_theta": 500000.0,
    "max_position_embeddings": 256, "hidden_act": "silu", "tie_word_embeddings": false})");
  const Outcome outcome = titan({"config", "--module", "llama3", "--config", file}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("n_layers *= *3 "));
}

}  // namespace
}  // namespace titan::cli
