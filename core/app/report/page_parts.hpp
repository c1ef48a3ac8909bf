#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace titan::app {

// Pieces of the program's HTML pages. Texts are escaped; what is called html is markup already.

/// A whole page, which needs nothing else: no network, no script.
std::string html_page(std::string_view title, std::string_view html);
/// A heading and what is under it; nothing where there is nothing.
std::string html_section(std::string_view title, std::string_view html);
/// Lines of a text stay lines.
std::string escaped_lines(std::string_view text);
/// Cells of a row; the last one takes what room there is. `tag` is td or th.
std::string html_row(std::string_view tag, const std::vector<std::string>& cells);
std::string html_table(const std::vector<std::string>& head, std::string_view html_rows);
/// A remark.
std::string html_quiet(std::string_view text);
/// A picture as wide as the page, which may be scrolled.
std::string html_wide(std::string_view picture);
/// A name and its value, for html_facts(); nothing without a value.
std::string html_fact(std::string_view name, std::string_view value);
std::string html_facts(std::string_view html_facts);

}  // namespace titan::app
