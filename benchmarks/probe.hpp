#pragma once

namespace titan::benchmark {

/// Seconds of a fixed matrix product and a fixed copy: the machine's speed at this moment.
struct Probe {
  double product = 0;
  double copy = 0;
};

Probe measure_probe();

}  // namespace titan::benchmark
