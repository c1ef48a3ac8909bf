// A checkpoint of any layout begins any other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/distributed/parity.hpp"
#include "tests/distributed/trained_ranks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::testing {
namespace {

constexpr std::int64_t kSaved = 3, kMore = 5;

struct Layout {
  std::string name;
  config::Degrees degrees;
  std::int64_t expert_degree = 1;
};

const std::vector<Layout>& savers() {
  static const std::vector<Layout> layouts{
      {"one", kOneRank},        {"fsdp2", {1, 1, 2, 1, 1}},     {"fsdp3", {1, 1, 3, 1, 1}}, {"tp2", {1, 1, 1, 1, 2}},
      {"pp2", {2, 1, 1, 1, 1}}, {"fsdp2_tp2", {1, 1, 2, 1, 2}}, {"ep2", {1, 1, 2, 1, 1}, 2}};
  return layouts;
}

const std::vector<Layout>& loaders() {
  static const std::vector<Layout> layouts{{"one", kOneRank},
                                           {"fsdp4", {1, 1, 4, 1, 1}},
                                           {"tp4", {1, 1, 1, 1, 4}},
                                           {"pp2_fsdp2", {2, 1, 2, 1, 1}},
                                           {"cp2", {1, 1, 1, 2, 1}}};
  return layouts;
}

RankRuns run_of(const Layout& layout, const std::string& preset, std::int64_t steps) {
  const bool is_pipeline = layout.degrees[0] > 1;
  RankRuns runs = parity_run(layout.degrees, kDouble, is_pipeline ? 2 : 1, preset);
  runs.expert_degree = layout.expert_degree;
  runs.steps = steps;
  return with(std::move(runs), {{"lr_scheduler.total_steps", std::to_string(kSaved + kMore)},
                                {"lr_scheduler.warmup_steps", "2"},
                                {"parallelism.num_pp_microbatches", is_pipeline ? "2" : "1"}});
}

/// What was saved, made once for each layout.
struct Saved {
  test::TemporaryFolder folder;
  Trained trained;
};

const Saved& saved_by(const Layout& layout, const std::string& preset) {
  static std::map<std::string, std::unique_ptr<Saved>> known;
  std::unique_ptr<Saved>& saved = known[layout.name + preset];
  if (!saved) {
    saved = std::make_unique<Saved>();
    saved->trained = train_ranks(saving(run_of(layout, preset, kSaved), saved->folder.path()));
  }
  return *saved;
}

const Trained& uninterrupted(const std::string& preset) {
  static std::map<std::string, Trained> known;
  const auto found = known.find(preset);
  if (found != known.end()) return found->second;
  return known.emplace(preset, train_ranks(run_of(savers().front(), preset, kSaved + kMore))).first->second;
}

RankRuns loading(const Layout& layout, const std::string& preset, const Saved& saved, std::int64_t steps) {
  return with(saving(run_of(layout, preset, steps), saved.folder.path()), {{"checkpoint.load_only", "true"}});
}

class Reshard : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(Reshard, LoadsTheSameStateAndTrainsOnAlike) {
  const Layout& saver = savers()[std::get<0>(GetParam())];
  const Layout& loader = loaders()[std::get<1>(GetParam())];
  const std::string preset = saver.expert_degree > 1 ? "qwen3_parity_moe" : "llama3_parity";
  const Saved& saved = saved_by(saver, preset);
  // As many steps as were saved: nothing is left to train.
  const Trained loaded = train_ranks(loading(loader, preset, saved, kSaved));
  EXPECT_TRUE(loaded.steps.empty());
  EXPECT_TRUE(bit_equal(loaded.state, saved.trained.state));
  const Trained rest = train_ranks(loading(loader, preset, saved, kSaved + kMore));
  ASSERT_EQ(rest.steps.size(), static_cast<std::size_t>(kMore));
  for (const auto& [step, figures] : rest.steps) {
    const StepFigures& expected = uninterrupted(preset).steps.at(step);
    EXPECT_LT(relative_difference(figures.loss, expected.loss), 1e-5) << step;
    EXPECT_LT(relative_difference(figures.grad_norm, expected.grad_norm), 1e-5) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Reshard,
                         ::testing::Combine(::testing::Range<std::size_t>(0, 7), ::testing::Range<std::size_t>(0, 5)),
                         [](const auto& one) {
                           return savers()[std::get<0>(one.param)].name + "_to_" +
                                  loaders()[std::get<1>(one.param)].name;
                         });

/// Names, sizes, times and content of all that is in a folder.
std::map<std::string, std::string> content_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::ostringstream text;
    text << entry.last_write_time().time_since_epoch().count() << ' ';
    if (entry.is_regular_file()) text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    found[entry.path().native()] = text.str();
  }
  return found;
}

class SeedCheckpoint : public ::testing::TestWithParam<std::size_t> {};

/// The three layouts of torchtitan's guide to equal loss curves.
const std::vector<Layout>& guide_layouts() {
  static const std::vector<Layout> layouts{
      {"dp4", {1, 1, 4, 1, 1}}, {"dp2_2_tp2", {1, 2, 2, 1, 2}}, {"dp2_2_cp2_pp2", {2, 2, 2, 2, 1}}};
  return layouts;
}

TEST_P(SeedCheckpoint, BeginsEveryLayoutWithTheSameWeights) {
  static Saved seed;
  static const bool is_made = [] {
    seed.trained = train_ranks(with(saving(run_of(savers().front(), "llama3_parity", 1), seed.folder.path()),
                                    {{"checkpoint.create_seed_checkpoint", "true"}, {"debug.seed", "99"}}));
    return seed.trained.steps.empty();
  }();
  EXPECT_TRUE(is_made) << "a seed checkpoint is made without training";
  const auto before = content_of(seed.folder.path());
  const Layout& layout = guide_layouts()[GetParam()];
  // No step of its own changes the weights: a rate of 0 and no decay.
  const Trained loaded = train_ranks(
      with(loading(layout, "llama3_parity", seed, 1), {{"optimizer.lr", "0"}, {"optimizer.weight_decay", "0"}}));
  EXPECT_EQ(loaded.steps.count(1), 1u);
  for (const auto& [name, tensor] : seed.trained.state) {
    if (name.starts_with("optimizer.")) continue;
    EXPECT_TRUE(tensor.equal(loaded.state.at(name))) << name;
  }
  EXPECT_EQ(content_of(seed.folder.path()), before) << "load_only writes nothing";
}

INSTANTIATE_TEST_SUITE_P(Guide, SeedCheckpoint, ::testing::Range<std::size_t>(0, 3),
                         [](const auto& one) { return guide_layouts()[one.param].name; });

}  // namespace
}  // namespace titan::testing
