#include "plugins/parallel/pipeline/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "plugins/parallel/pipeline/options.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

constexpr std::size_t kMostBytes = 16U << 20U;
constexpr std::size_t kMostShown = 40;
constexpr std::uint32_t kMostNumber = 1U << 20U;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // as some editors begin a file

constexpr std::array<std::pair<std::string_view, std::int32_t>, 6> kKinds = {
    {{"F", TITAN_ACTION_FORWARD},
     {"B", TITAN_ACTION_BACKWARD},
     {"SEND_F", TITAN_ACTION_SEND_FORWARD},
     {"RECV_F", TITAN_ACTION_RECEIVE_FORWARD},
     {"SEND_B", TITAN_ACTION_SEND_BACKWARD},
     {"RECV_B", TITAN_ACTION_RECEIVE_BACKWARD}}};

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes what is before the separator off the text.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

bool take_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > kMostNumber) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::string shown(std::string_view word) {
  std::string text(word.substr(0, kMostShown));
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return text;
}

titan_action parse_action(std::string_view word, const std::string& place) {
  std::string_view rest = word;
  titan_action action{};
  const bool has_stage = take_number(rest, action.stage);
  const std::size_t digits = std::min(rest.find_first_of("0123456789"), rest.size());
  const std::string_view name = rest.substr(0, digits);
  rest.remove_prefix(digits);
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) { return known.first == name; });
  if (!has_stage || kind == kKinds.end() || !take_number(rest, action.micro_batch) || !rest.empty()) {
    throw sdk::ConfigError("[pipeline] no action of a schedule: ", place, ": ", shown(word),
                           ": expected stage, one of F, B, SEND_F, RECV_F, SEND_B, RECV_B, and micro-batch, as in 0F3; "
                           "halves of a backward (I, W) are not offered");
  }
  action.kind = kind->second;
  return action;
}

}  // namespace

Rows parse_csv(std::string_view text, std::string_view source) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Rows rows;
  while (!text.empty()) {
    std::string_view line = trimmed(take(text, '\n'));
    auto& row = rows.emplace_back();
    for (std::size_t column = 1; !line.empty(); ++column) {
      const std::string_view word = trimmed(take(line, ','));
      if (word.empty()) continue;
      row.push_back(parse_action(word, sdk::concat(source, ", line ", rows.size(), ", action ", column)));
    }
  }
  while (!rows.empty() && rows.back().empty()) rows.pop_back();
  return rows;
}

std::string read_csv_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  // A fifo or a terminal would keep the run waiting.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw sdk::InputError("[pipeline] ", kCsv, " is not a regular file: ", path);
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())) && !file.eof()) {
    throw sdk::InputError("[pipeline] ", kCsv, " cannot be read: ", path);
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    throw sdk::ConfigError("[pipeline] ", kCsv, " is larger than ", kMostBytes, " bytes: ", path);
  }
  return text;
}

bool has_transfers(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const titan_action& action) {
      return action.kind != TITAN_ACTION_FORWARD && action.kind != TITAN_ACTION_BACKWARD;
    });
  });
}

}  // namespace titan::parallel::pipeline
