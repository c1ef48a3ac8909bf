#pragma once

#include <string>
#include <vector>

namespace titan::config {

/// A flag of a verb, which is no configuration: `--schema`, `--plugin FILE`, `--help[=PATTERN]`.
struct Flag {
  std::string name;     // without leading dashes; underscores may stand for the dashes in it
  std::string metavar;  // of its value; empty: it takes none
  std::string help;
  bool value_optional = false;  // a value follows only after "=": `--help=PATTERN`
  bool repeatable = false;      // every value counts; otherwise the last one wins
};

/// A verb of the program: `titan config ...`.
struct Verb {
  std::string name;
  std::string summary;
  std::vector<Flag> flags;
  std::vector<std::string> positionals;  // names of the words it takes besides flags, for help and errors
  bool takes_options = true;             // whether configuration options may follow
  std::string rest = {};  // name of the words after "--", which are another command line; empty: there are none
};

}  // namespace titan::config
