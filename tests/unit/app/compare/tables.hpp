#pragma once

#include <string>
#include <vector>

#include "core/app/compare/run_table.hpp"

namespace titan::app::test {

/// A table of one or more columns: steps from 1, one row of values each.
inline RunTable table(const std::string& name, const std::vector<std::string>& columns,
                      const std::vector<std::vector<double>>& rows) {
  RunTable made;
  made.name = name;
  made.file = name + "/metrics.jsonl";
  made.columns = columns;
  made.available.insert(columns.begin(), columns.end());
  for (std::size_t i = 0; i < rows.size(); ++i) made.rows[static_cast<std::int64_t>(i) + 1] = rows[i];
  return made;
}

}  // namespace titan::app::test
