#include "core/trace/json_lines.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/json.hpp"

namespace titan::trace {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

/// Cuts pieces of a file into lines.
class Lines {
 public:
  explicit Lines(std::function<void(std::string_view)> use) : use_(std::move(use)) {}

  void add(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (line_.size() + part.size() <= kLongestLine)
        line_.append(part);
      else
        is_too_long_ = true;
      if (end == std::string_view::npos) return;
      finish();
      piece.remove_prefix(end + 1);
    }
  }

  void finish() {
    if (is_too_long_) line_ = "too long";
    if (!line_.empty()) use_(line_);
    line_.clear();
    is_too_long_ = false;
  }

 private:
  std::function<void(std::string_view)> use_;
  std::string line_;
  bool is_too_long_ = false;
};

}  // namespace

void read_json_lines(const std::filesystem::path& path, const std::function<bool(std::string_view)>& wants,
                     const std::function<void(const nlohmann::json&)>& use, std::vector<std::string>& missing) {
  std::size_t damaged = 0;
  Lines lines([&](std::string_view line) {
    if (!wants(line)) return;
    try {
      const nlohmann::json object = parse_json(line, path.native());
      if (!object.is_object()) throw DataError("no object");
      use(object);
    } catch (const DataError&) {
      ++damaged;
    }
  });
  try {
    read_file_in_pieces(path, [&](std::string_view piece) { lines.add(piece); });
    lines.finish();
  } catch (const Error& error) {
    missing.push_back(error.what());
  }
  if (damaged > 0) {
    missing.push_back(
        concat(damaged, damaged == 1 ? " line is" : " lines are", " no JSON object: ", printable(path.native())));
  }
}

}  // namespace titan::trace
