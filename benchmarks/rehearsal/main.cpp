// How long large layouts take to rehearse, each as a fresh process of the real binary on a file in configs/, beside a
// fixed matrix product and a fixed copy: the machine's speed at that moment.

#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/probe.hpp"
#include "benchmarks/ratio.hpp"
#include "core/base/clock.hpp"
#include "core/base/temporary_folder.hpp"
#include "core/base/text.hpp"

namespace titan::benchmark {
namespace {

struct Layout {
  const char* name;
  const char* world_size;
  const char* file;
};
constexpr Layout kLayouts[] = {
    {"70B x 128", "128", "70b_fsdp16_tp8_128.toml"},
    {"405B x 512, 1F1B", "512", "405b_fsdp8_tp8_pp8_512.toml"},
    {"405B x 512, interleaved", "512", "405b_fsdp8_tp8_pp8_interleaved_512.toml"},
    {"405B x 4,096, cp 1", "4096", "405b_fsdp64_tp8_pp8_4096.toml"},
    {"405B x 4,096, cp 2", "4096", "405b_fsdp32_cp2_tp8_pp8_4096.toml"},
};

struct Measured {
  double seconds = 0;
  std::size_t num_ranks = 0;
  std::int64_t operators = 0;
  std::int64_t memory_mib = 0;
};

/// Runs a shell command that writes to a file. The most memory it had at once, in MiB.
std::int64_t memory_of(const std::string& command) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) throw std::runtime_error("failed: " + command);
  return usage.ru_maxrss >> 10;
}

Measured rehearse(const Layout& layout, const std::string& report_file) {
  const std::string command =
      concat("cd '", TITAN_SOURCE_FOLDER, "' && exec '", TITAN_BINARY, "' rehearse --json --world-size ",
             layout.world_size, " --config configs/llama3/", layout.file, " > '", report_file, "' 2> /dev/null");
  Measured measured;
  const double begin = monotonic_seconds();
  measured.memory_mib = memory_of(command);
  measured.seconds = monotonic_seconds() - begin;
  std::ifstream file(report_file);
  const auto report = nlohmann::json::parse(file);
  for (const auto& rank : report.at("ranks")) measured.operators += rank.at("operators").get<std::int64_t>();
  measured.num_ranks = report.at("ranks").size();
  return measured;
}

void report(const Layout& layout, int runs, const std::string& report_file) {
  std::vector<double> seconds;
  std::vector<Probe> probes;
  Measured last;
  for (int i = 0; i < runs; ++i) {
    probes.push_back(measure_probe());
    last = rehearse(layout, report_file);
    seconds.push_back(last.seconds);
  }
  const Probe probe = usual_probe(probes);
  std::printf(
      "%-24s median %.2f s, best %.2f s; %zu ranks, %lld operators, %lld MiB; probe: product %.1f ms, copy %.1f ms\n",
      layout.name, median(seconds), *std::min_element(seconds.begin(), seconds.end()), last.num_ranks,
      static_cast<long long>(last.operators), static_cast<long long>(last.memory_mib), 1e3 * probe.product,
      1e3 * probe.copy);
  std::fflush(stdout);
}

void run(int runs) {
  at::set_num_threads(1);
  const TemporaryFolder scratch;
  measure_probe();  // wakes the libraries
  for (const Layout& layout : kLayouts) report(layout, runs, (scratch.path() / "report.json").string());
}

}  // namespace
}  // namespace titan::benchmark

int main(int argc, char** argv) {
  try {
    titan::benchmark::run(argc > 1 ? std::stoi(argv[1]) : 5);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rehearsal: %s\n", error.what());
    return 1;
  }
  return 0;
}
