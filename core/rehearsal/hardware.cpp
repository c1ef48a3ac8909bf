#include "core/rehearsal/hardware.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "core/base/error.hpp"
#include "core/config/option_builder.hpp"
#include "core/config/parse.hpp"
#include "core/config/problems.hpp"
#include "core/config/suggestion.hpp"
#include "core/config/toml_reader.hpp"
#include "core/config/toml_values.hpp"

namespace titan::rehearsal {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9, kMicro = 1e-6, kGibi = 1024.0 * 1024.0 * 1024.0;

/// What the SXM boards of both GPUs share. bf16 products: 1,979 TFLOP/s with sparsity, half of it without; NVLink: 900
/// GB/s of both directions together (data sheets of NVIDIA H100 and H200). Network: a ConnectX-7 card of 400 Gbit/s for
/// each GPU (NVIDIA DGX H100/H200 data sheet). Latencies: a step of the ring algorithm with the Simple protocol (the
/// hwLat table of NCCL's src/graph/tuning.cc). Efficiencies: large matrix products and attention kernels reach about
/// 0.6 of the peak, rings about 0.8 of the links.
Hardware hopper(std::string_view name, double memory_gib) {
  Hardware made;
  made.name = name;
  made.peak_flops = 989.4 * kTera;
  made.memory_bytes = memory_gib * kGibi;
  made.nvlink_bandwidth = 450 * kGiga;
  made.network_bandwidth = 50 * kGiga;
  made.nvlink_latency = 3.4 * kMicro;
  made.network_latency = 14 * kMicro;
  made.gpus_per_node = 8;
  made.compute_efficiency = 0.6;
  made.bandwidth_efficiency = 0.8;
  made.source = "NVIDIA's data sheets of the SXM board and of DGX, NCCL's tuning table; efficiencies are round figures";
  return made;
}

/// The data sheets say 80 and 141 GB; this is what the driver offers a program.
std::vector<Hardware> built_in() { return {hopper("h100", 79.1), hopper("h200", 139.8)}; }

/// A key of a file and where its value goes.
struct Key {
  config::Option option;
  std::function<void(Hardware&, double)> set;
};

config::OptionBuilder positive(std::string_view name, double most) {
  return config::floating(name, 1, "").above(0).at_most(most);
}

std::vector<Key> keys() {
  return {
      {positive("peak_tflops", 1e6), [](Hardware& made, double value) { made.peak_flops = value * kTera; }},
      {positive("memory_gib", 1e6), [](Hardware& made, double value) { made.memory_bytes = value * kGibi; }},
      {positive("nvlink_gb_per_s", 1e6), [](Hardware& made, double value) { made.nvlink_bandwidth = value * kGiga; }},
      {positive("network_gb_per_s", 1e6), [](Hardware& made, double value) { made.network_bandwidth = value * kGiga; }},
      {config::floating("nvlink_latency_us", 0, "").at_least(0).at_most(1e6),
       [](Hardware& made, double value) { made.nvlink_latency = value * kMicro; }},
      {config::floating("network_latency_us", 0, "").at_least(0).at_most(1e6),
       [](Hardware& made, double value) { made.network_latency = value * kMicro; }},
      {config::integer("gpus_per_node", 8, "").at_least(1).at_most(1e6),
       [](Hardware& made, double value) { made.gpus_per_node = static_cast<std::int64_t>(value); }},
      {positive("compute_efficiency", 1), [](Hardware& made, double value) { made.compute_efficiency = value; }},
      {positive("bandwidth_efficiency", 1), [](Hardware& made, double value) { made.bandwidth_efficiency = value; }},
  };
}

double number_of(const config::Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

class KeyReader {
 public:
  explicit KeyReader(std::string_view source) : source_(source) {}

  Hardware read(const config::TomlTable& table) {
    for (const config::TomlMember& member : table) {
      if (member.key == "base") set_base(member);
    }
    for (const config::TomlMember& member : table) set(member);
    if (!has_base_) require_all();
    problems_.throw_if_any();
    made_.name = source_;
    return made_;
  }

 private:
  void set_base(const config::TomlMember& member) {
    has_base_ = true;
    check(member, config::text("base", "h100", "").one_of(known_hardware()), [&](const config::Value& value) {
      const std::vector<Hardware> known = built_in();
      made_ = *std::ranges::find(known, std::get<std::string>(value), &Hardware::name);
      made_.source = concat("based on ", made_.name, ": ", made_.source);
    });
  }

  void set(const config::TomlMember& member) {
    if (member.key == "base") return;
    if (member.key == "source") {
      return check(member, config::text("source", "", ""),
                   [&](const config::Value& value) { made_.source = std::get<std::string>(value); });
    }
    const auto key = std::ranges::find(keys_, member.key, [](const Key& each) { return each.option.name; });
    if (key == keys_.end())
      return complain(member.position, concat(printable(member.key), ": unknown key", hint(member.key)));
    seen_.push_back(member.key);
    check(member, key->option, [&](const config::Value& value) { key->set(made_, number_of(value)); });
  }

  template <class Use>
  void check(const config::TomlMember& member, const config::Option& option, const Use& use) {
    try {
      use(config::value_from_toml(option, member.value));
    } catch (const ConfigError& error) {
      complain(member.value.position, concat(option.name, ": ", error.what()));
    }
  }

  void require_all() {
    for (const Key& key : keys_) {
      if (std::ranges::find(seen_, key.option.name) != seen_.end()) continue;
      complain({}, concat(key.option.name, ": missing, and there is no base to take it from: expected ",
                          config::expectation(key.option)));
    }
  }

  std::string hint(std::string_view word) const {
    std::vector<std::string> names{"base", "source"};
    for (const Key& key : keys_) names.push_back(key.option.name);
    return config::list_hint(word, std::move(names));
  }

  void complain(TextPosition position, const std::string& text) {
    problems_.add_value(concat(printable(source_), ":", position.line, ":", position.column, ": ", text));
  }

  std::string_view source_;
  const std::vector<Key> keys_ = keys();
  std::vector<std::string> seen_;
  bool has_base_ = false;
  config::Problems problems_;
  Hardware made_;
};

}  // namespace

std::vector<std::string> known_hardware() {
  std::vector<std::string> names;
  for (const Hardware& each : built_in()) names.push_back(each.name);
  return names;
}

Hardware find_hardware(std::string_view name_or_path) {
  const std::vector<Hardware> known = built_in();
  const auto found = std::ranges::find(known, name_or_path, &Hardware::name);
  if (found != known.end()) return *found;
  const std::filesystem::path path(name_or_path);
  std::error_code failure;
  if (path.extension() != ".toml" && !std::filesystem::exists(path, failure)) {
    throw ConfigError("[rehearsal] no such hardware, and no file: \"", shortened(printable(name_or_path), 100), '"',
                      config::list_hint(name_or_path, known_hardware()), "; or the path of a TOML file");
  }
  return KeyReader(name_or_path).read(config::read_toml_file(path));
}

Hardware read_hardware(std::string_view text, std::string_view name) {
  return KeyReader(name).read(config::read_toml(text, name));
}

}  // namespace titan::rehearsal
