#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Pictures as SVG text. Lines and texts have the colour of the page around them; nothing is loaded from anywhere.
namespace titan::chart {

/// Text that cannot become markup, in SVG and HTML, in attributes too; characters that XML does not have are escaped as
/// in printable().
std::string escaped(std::string_view text);

/// A coordinate, with one decimal.
std::string coordinate(double value);

/// "start", "middle" or "end" says which part of the text is at x.
/// `attributes` are markup of the program's own.
std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view attributes = {});
/// A box; a title, if there is one, shows when the mouse rests on it.
std::string box(double x, double y, double width, double height, std::string_view fill, std::string_view title = {});
/// A thin line of the page's colour.
std::string line(double x1, double y1, double x2, double y2, double opacity = 1);

/// A colour for the i-th of several things; they repeat after ten.
std::string_view color(std::size_t index);

/// What is read well on that colour.
std::string_view color_on(std::size_t index);

/// The whole picture: what is drawn in it, and its size.
std::string picture(double width, double height, std::string_view content);

/// The same as a file of its own, with colours for light and dark screens.
std::string picture_file(std::string_view picture);

}  // namespace titan::chart
