#include "plugins/observability/breakpoint/slice.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "plugins/observability/breakpoint/command.hpp"
#include "plugins/observability/breakpoint/text_parts.hpp"

namespace titan::observability {
namespace {

constexpr std::string_view kEllipsis = "...";

std::optional<std::int64_t> whole_or_none(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  throw CommandError("not a whole number in a slice: \"", text, "\"; a slice looks like [0, 1:4, ..., -1]");
}

Selection select_range(std::string_view part, std::int64_t size) {
  const std::vector<std::string_view> bounds = split_parts(part, ':');
  if (bounds.size() > 3) throw CommandError("more than start:stop:step in a slice: \"", part, '"');
  const std::int64_t step = bounds.size() == 3 ? whole_or_none(bounds[2]).value_or(1) : 1;
  if (step < 1) throw CommandError("steps of a slice are positive: \"", part, '"');
  const auto place = [size](std::optional<std::int64_t> index, std::int64_t otherwise) {
    if (!index) return otherwise;
    return std::clamp<std::int64_t>(*index < 0 ? *index + size : *index, 0, size);
  };
  const std::int64_t first = place(whole_or_none(bounds[0]), 0), last = place(whole_or_none(bounds[1]), size);
  const std::int64_t length = std::max<std::int64_t>(last - first, 0);
  return {.first = first, .count = length / step + (length % step != 0 ? 1 : 0), .step = step};
}

Selection select(std::string_view part, std::int64_t dim, std::int64_t size) {
  if (part.find(':') != std::string_view::npos) return select_range(part, size);
  const std::optional<std::int64_t> index = whole_or_none(part);
  if (!index) throw CommandError("a slice has an empty part; all of a dimension is \":\"");
  if (*index < -size || *index >= size) {
    throw CommandError("index ", *index, " is out of range: dimension ", dim, " has ", size, " indices");
  }
  return {.first = *index < 0 ? *index + size : *index, .count = 1, .step = 1, .is_index = true};
}

std::vector<std::string_view> parts_of(std::string_view text) {
  const std::string_view slice = trimmed(text);
  if (slice.empty()) return {};
  if (!slice.starts_with('[') || !slice.ends_with(']')) {
    throw CommandError("a slice stands in brackets: [0, :4], got \"", slice, '"');
  }
  return split_parts(slice.substr(1, slice.size() - 2), ',');
}

}  // namespace

std::vector<Selection> parse_slice(std::string_view text, const std::vector<std::int64_t>& sizes) {
  const std::vector<std::string_view> parts = parts_of(text);
  const auto num_ellipses = static_cast<std::size_t>(std::ranges::count(parts, kEllipsis));
  if (num_ellipses > 1) throw CommandError("a slice has at most one \"...\"");
  const std::size_t num_named = parts.size() - num_ellipses;
  if (num_named > sizes.size()) {
    throw CommandError("too many indices: ", num_named, ", the tensor has ", sizes.size(), " dimensions");
  }
  std::vector<Selection> selections;
  const auto take_whole = [&](std::size_t until) {
    while (selections.size() < until) selections.push_back({.first = 0, .count = sizes[selections.size()]});
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == kEllipsis) {
      take_whole(sizes.size() - (num_named - i));
    } else {
      selections.push_back(select(parts[i], static_cast<std::int64_t>(selections.size()), sizes[selections.size()]));
    }
  }
  take_whole(sizes.size());
  return selections;
}

}  // namespace titan::observability
