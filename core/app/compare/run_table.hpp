#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace titan::app {

/// Names and values of options as a configuration file has them, origins left out: {"training.steps", "10"}.
using Settings = std::map<std::string, std::string>;

/// Some columns of one run's metrics, by step.
struct RunTable {
  std::string name;                                  // as the user named the run
  std::string file;                                  // the file of the rows
  std::vector<std::string> columns;                  // those asked for, in that order
  std::map<std::int64_t, std::vector<double>> rows;  // by step: a value for each column, NaN where it has no number
  std::set<std::string> available;                   // columns of the file, asked for or not
  std::size_t num_repeated = 0;                      // rows that a later one of the same step replaced
  Settings settings;                                 // what is known of the run's configuration

  bool has(const std::string& column) const { return available.contains(column); }
};

}  // namespace titan::app
