#include "core/rehearsal/formulas.hpp"

#include <cstdio>

#include "core/base/text.hpp"

namespace titan::rehearsal {
namespace {

/// Four significant digits.
std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string tera(double value) { return figure(value / 1e12); }
std::string giga(double value) { return figure(value / 1e9); }
std::string micro(double value) { return figure(value * 1e6); }

}  // namespace

std::vector<std::string> formulas(const Hardware& hardware) {
  const std::string compute = figure(hardware.compute_efficiency), links = figure(hardware.bandwidth_efficiency);
  return {
      concat("this is an estimate from stated figures of ", printable(hardware.name), ", nothing of it was measured",
             hardware.source.empty() ? "" : concat("; ", printable(hardware.source))),
      concat("computation: FLOPs / (", tera(hardware.peak_flops), " TFLOP/s x ", compute,
             "); what only moves memory takes none"),
      concat("collectives of n ranks over N nodes of ", hardware.gpus_per_node,
             " GPUs, in a ring: latency + bytes sent / bandwidth"),
      concat(
          "bytes sent, of S in all: S (n-1)/n by all-gather, reduce-scatter and all-to-all, twice that by all-reduce, "
          "S by broadcast"),
      concat("latency: (n-N) x ", micro(hardware.nvlink_latency), " us + (N-1) x ", micro(hardware.network_latency),
             " us, twice that of all-reduce; one step of all-to-all"),
      concat(
          "bandwidth: inside a node ", giga(hardware.nvlink_bandwidth), " GB/s x ", links, "; between nodes ",
          giga(hardware.network_bandwidth), " GB/s x ", links,
          " x members in a node, at most what is inside a node (of all-to-all: of each member what leaves the node)"),
      "sends: one step's latency + bytes / bandwidth, when both sides have started; two ranks do theirs in order",
      "calls of one channel run one after another, next to those of other channels and to computation, which they do "
      "not slow down",
  };
}

}  // namespace titan::rehearsal
