#include "core/app/report/page_parts.hpp"

#include "core/base/text.hpp"
#include "core/chart/svg.hpp"

namespace titan::app {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:1092px;margin:2em auto;padding:0 1em;color:#1a1a1a;background:#fff}
h1{font-size:1.5em;overflow-wrap:anywhere}h2{font-size:1.15em;margin:2em 0 .8em;border-bottom:1px solid #8888}
svg{max-width:100%;height:auto;display:block}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:1.2em 1.5em}
.charts svg{width:100%;max-width:640px}
.wide{overflow-x:auto;margin:1em 0}.wide svg{min-width:820px}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,240px),1fr));gap:.8em 1.5em;margin:0}
dt{opacity:.75;font-size:.87em}dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.table{overflow-x:auto}table{border-collapse:collapse}
th,td{text-align:left;vertical-align:top;padding:.2em .9em .2em 0;border-bottom:1px solid #8884}
th,td:not(.text){white-space:nowrap}.text{overflow-wrap:anywhere;white-space:pre-line;min-width:14em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.7em}
.ending{padding:.4em .8em;border-left:4px solid #59a14f;background:#59a14f18;font-weight:600}
.ending.unknown{border-color:#888;background:#8881}
.ending.bad{color:#b3261e;border-color:#b3261e;background:#b3261e14}.quiet{opacity:.75}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}
.ending.bad{color:#ff8a80;border-color:#ff8a80;background:#ff8a8014}}
@media print{body{max-width:none;margin:0;color:#000;background:#fff}h2{break-after:avoid}svg,tr{break-inside:avoid}
.charts{grid-template-columns:1fr 1fr}.wide,.table{overflow:visible}.wide svg{min-width:0}}
)";

}  // namespace

std::string html_page(std::string_view title, std::string_view html) {
  return concat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
                chart::escaped(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n<h1>",
                chart::escaped(title), "</h1>\n", html, "</body>\n</html>\n");
}

std::string html_section(std::string_view title, std::string_view html) {
  if (html.empty()) return {};
  return concat("<section>\n<h2>", chart::escaped(title), "</h2>\n", html, "</section>\n");
}

std::string escaped_lines(std::string_view text) {
  std::string html;
  for (const std::string& line : split(text, '\n')) html += concat(html.empty() ? "" : "\n", chart::escaped(line));
  return html;
}

std::string html_row(std::string_view tag, const std::vector<std::string>& cells) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_text = i + 1 == cells.size();
    html += concat("<", tag, is_text ? " class=\"text\">" : ">", escaped_lines(cells[i]), "</", tag, ">");
  }
  return html + "</tr>\n";
}

std::string html_table(const std::vector<std::string>& head, std::string_view html_rows) {
  return concat("<div class=\"table\"><table>\n", html_row("th", head), html_rows, "</table></div>\n");
}

std::string html_quiet(std::string_view text) { return concat("<p class=\"quiet\">", chart::escaped(text), "</p>\n"); }

std::string html_wide(std::string_view picture) {
  return picture.empty() ? "" : concat("<div class=\"wide\">\n", picture, "</div>\n");
}

std::string html_fact(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return concat("<div><dt>", chart::escaped(name), "</dt><dd>", chart::escaped(value), "</dd></div>\n");
}

std::string html_facts(std::string_view html_facts) { return concat("<dl>\n", html_facts, "</dl>\n"); }

}  // namespace titan::app
