"""What a browser makes of the program's pages and pictures: browser_report.py CHROMIUM FILE [NUMBER_OF_CHARTS]."""

import pathlib
import sys

from browser import Browser

WIDTHS = (1400, 700)

# Of each picture: its size; how many shapes are seen; texts that leave it, are too small, or lie on each other.
LOOK = """
(() => {
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                         Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return [...document.querySelectorAll('svg')].map(svg => {
    const size = svg.getBoundingClientRect();
    const shapes = [...svg.querySelectorAll('path, rect, circle')].map(shape => shape.getBoundingClientRect());
    const texts = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
    const found = {width: size.width, height: size.height, shapes: shapes.filter(one => one.width + one.height > 0).length,
                   problems: []};
    texts.forEach(([text, place], i) => {
      if (!inside(place, size)) found.problems.push(`a text leaves its picture: ${text}`);
      if (place.height < 9) found.problems.push(`a text is ${place.height} high: ${text}`);
      for (const [other, there] of texts.slice(i + 1))
        if (meet(place, there)) found.problems.push(`texts lie on each other: ${text}, ${other}`);
    });
    shapes.forEach(shape => { if (!inside(shape, size)) found.problems.push('a shape leaves its picture'); });
    return found;
  });
})()
"""

# The contrast of the text in and around the pictures, as WCAG has it.
CONTRAST = """
(() => {
  const light = color => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(part => part / 255)
      .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const top = document.body || document.documentElement;
  const back = light(getComputedStyle(top).backgroundColor);
  return [top, ...document.querySelectorAll('svg')].map(part => light(getComputedStyle(part).color))
    .map(front => (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05)).reduce((a, b) => Math.min(a, b));
})()
"""


def check_layout(browser, path, width, number):
    browser.open(path.as_uri(), width)
    charts = browser.value(LOOK)
    assert number is None or len(charts) == number, f"{len(charts)} charts, not {number}"
    for chart in charts:
        assert chart["width"] > 100 and chart["height"] > 30, f"a chart is {chart['width']} by {chart['height']}"
        assert chart["shapes"] > 0, "a chart shows nothing"
        assert not chart["problems"], f"{width} wide: {chart['problems'][:5]}"
    if path.suffix == ".html":
        wide = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"the page is {wide} wider than a window of {width}"
    return charts


def main(chromium, file, number=None):
    path = pathlib.Path(file).resolve()
    with Browser(chromium) as browser:
        for width in WIDTHS:
            charts = check_layout(browser, path, width, number and int(number))
        assert browser.value("performance.getEntriesByType('resource').length") == 0, "something is loaded"
        for scheme in ("light", "dark"):
            browser.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            contrast = browser.value(CONTRAST)
            assert contrast >= 7, f"contrast {contrast} on a {scheme} screen"
        assert len(browser.page("Page.printToPDF")["data"]) > 1000, "nothing is printed"
        assert not browser.complaints, browser.complaints
        print(f"{len(charts)} charts; sections:", browser.value("[...document.querySelectorAll('h2')].map(h => h.textContent).join('; ')"))


main(*sys.argv[1:])
