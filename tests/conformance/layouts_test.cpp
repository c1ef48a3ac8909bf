// Every file in configs/ is a layout that works: rehearsed for as many ranks as its first comment says.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>

#include "tests/cli/runner/titan.hpp"
#include "tests/conformance/layout_limits.hpp"

namespace titan::cli {
namespace {

constexpr double kTolerance = 0.02;  // of the number of operators

/// A file in configs/, and the ranks it is for.
struct Layout {
  std::string file;  // "llama3/8b_fsdp8_8.toml"
  int num_ranks = 1;
  bool has_gpus = false;
};
std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.file; }

/// Reads the comment at the top: `--world-size N` of a rehearsal, `NGPU=N` of a run; else one rank.
Layout layout_of(const std::filesystem::path& path) {
  static const std::regex count("#.*(--world-size |NGPU=)([0-9]+).*");
  Layout layout{path.lexically_relative(source("configs")).string()};
  std::ifstream file(path);
  std::smatch found;
  for (std::string line; std::getline(file, line) && line.starts_with('#');) {
    if (!std::regex_match(line, found, count)) continue;
    layout.num_ranks = std::stoi(found[2]);
    layout.has_gpus = found[1] != "NGPU=";
  }
  return layout;
}

std::vector<Layout> layouts() {
  std::vector<Layout> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source("configs"))) {
    if (entry.path().extension() == ".toml") found.push_back(layout_of(entry.path()));
  }
  std::sort(found.begin(), found.end(), [](const Layout& a, const Layout& b) { return a.file < b.file; });
  return found;
}

std::string test_name(const Layout& layout) {
  std::string name = layout.file.substr(0, layout.file.rfind('.'));
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

/// More cores rehearse more ranks at once, and take more memory for it.
void use_two_cores() {
  cpu_set_t now, two;
  CPU_ZERO(&two);
  ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
  for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++core) {
    if (CPU_ISSET(core, &now)) CPU_SET(core, &two);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof two, &two), 0);
}

class Layouts : public TrainTest, public ::testing::WithParamInterface<Layout> {
 protected:
  Outcome rehearse() const {
    const Layout& layout = GetParam();
    Command command = titan({"rehearse", "--json", "--world-size", std::to_string(layout.num_ranks), "--config"});
    command.args({source("configs") / layout.file}).in(source("")).limit(600);
    if (layout.has_gpus) command.args({"--memory-per-gpu", "80"});
    return command.run();
  }
};

void expect_sound(const nlohmann::json& report) {
  EXPECT_TRUE(report.at("matching").at("agrees").get<bool>());
  EXPECT_TRUE(report.at("matching").at("not_compared").empty()) << report.at("matching");
  EXPECT_TRUE(report.at("deadlock").is_null());
}

std::int64_t num_operators(const nlohmann::json& report) {
  std::int64_t sum = 0;
  for (const nlohmann::json& rank : report.at("ranks")) sum += rank.at("operators").get<std::int64_t>();
  return sum;
}

TEST_P(Layouts, AreSoundAndRehearsedWithinTheirLimits) {
  use_two_cores();
  const Outcome outcome = rehearse();
  ASSERT_THAT(outcome, ExitsWith(0));
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  expect_sound(report);
  const std::int64_t operators = num_operators(report), mib = outcome.peak_memory_bytes >> 20;
  std::printf("{\"%s\", %lld, %lld},\n", GetParam().file.c_str(), static_cast<long long>(operators),
              static_cast<long long>(mib));
  const auto* limits = std::find_if(std::begin(kLayoutLimits), std::end(kLayoutLimits),
                                    [](const LayoutLimits& row) { return row.file == GetParam().file; });
  ASSERT_NE(limits, std::end(kLayoutLimits)) << "layout_limits.hpp has no row for " << GetParam().file;
  EXPECT_NEAR(static_cast<double>(operators), static_cast<double>(limits->operators),
              kTolerance * static_cast<double>(limits->operators));
  EXPECT_LE(mib, limits->memory_mib);
}

INSTANTIATE_TEST_SUITE_P(Configs, Layouts, ::testing::ValuesIn(layouts()),
                         [](const auto& tested) { return test_name(tested.param); });

// A name ends in the number of GPUs that the file's comment says.
TEST(LayoutNames, EndInTheNumberOfGpus) {
  for (const Layout& layout : layouts()) {
    if (!layout.has_gpus) continue;
    EXPECT_TRUE(layout.file.ends_with("_" + std::to_string(layout.num_ranks) + ".toml")) << layout.file;
  }
}

}  // namespace
}  // namespace titan::cli
