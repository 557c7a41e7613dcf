// Checks that every page must pass in a browser, run on the rendered page.

import FoundationEssentials
import Platform
import TestSupport
import Testing

extension Browser {
  /// Stores a screenshot for manual review, if `KEEP_PICTURES` is set; the test's output names the file.
  func keepPicture(_ name: String) throws {
    if Environment.process["KEEP_PICTURES"] != nil { print("screenshot: \(try storePicture(name))") }
  }

  /// Stores a screenshot.
  /// - Returns: its path.
  func storePicture(_ name: String) throws -> String {
    let folder = "\(Program.repository)/.build/screenshots"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = "\(folder)/\(name).png"
    try Data(try picture()).write(to: URL(filePath: path))
    return path
  }

  /// Accessibility faults of the page: low vision, no colours, no mouse.
  /// - Parameter landmarks: the landmarks that the page must have.
  func faults(
    _ place: String, landmarks: [String] = ["banner", "navigation", "main", "contentinfo"]
  ) throws -> [String] {
    var faults: [String] = []
    for (name, expression) in Self.checks {
      let found = try text(expression)
      if !found.isEmpty { faults.append("\(place): \(name): \(found)") }
    }
    let things = try accessibleThings()
    for role in landmarks where !things.contains(where: { $0.role == role }) {
      faults.append("\(place): there is no \(role)")
    }
    let named: Set = ["link", "button", "textbox", "combobox", "image", "table", "region"]
    for thing in things where named.contains(thing.role) && thing.name.isEmpty {
      faults.append("\(place): a \(thing.role) has no name")
    }
    return faults
  }

  /// Each returns an empty text if there is no fault.
  private static let checks = [
    (
      "it is wider than the screen",
      """
      (() => { const { scrollWidth, clientWidth } = document.documentElement;
        return scrollWidth > clientWidth ? `${scrollWidth} of ${clientWidth} pixels` : ""; })()
      """
    ),
    (
      "headings are out of order",
      """
      (() => { const levels = [...document.querySelectorAll("h1,h2,h3,h4")].map(h => +h.tagName[1]);
        const isFine = levels[0] == 1 && levels.filter(l => l == 1).length == 1
          && levels.every((l, i) => i == 0 || l <= levels[i - 1] + 1);
        return isFine ? "" : levels.join(" "); })()
      """
    ),
    (
      "an id stands twice",
      """
      (() => { const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
        return ids.filter((id, i) => ids.indexOf(id) != i).join(" "); })()
      """
    ),
    (
      "too small to touch",
      """
      [...document.querySelectorAll("main a.button, main button, main input, main select, header a")]
        .filter(e => e.type != "hidden" && !e.matches(".skip"))
        .filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 24)
        .map(e => e.outerHTML.slice(0, 80)).join(" ")
      """
    ),
    ("too little contrast", contrast),
  ]

  /// The contrast of every text with its background (WCAG 2.2, 1.4.3).
  private static let contrast = """
    (() => {
      const channels = colour => colour.match(/[\\d.]+/g).map(Number);
      const light = colour => { const [r, g, b] = channels(colour).slice(0, 3).map(c => { c /= 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const behind = element => { for (let e = element; e; e = e.parentElement) {
          const colour = getComputedStyle(e).backgroundColor;
          if ((channels(colour)[3] ?? 1) > 0) return colour; }
        return getComputedStyle(document.documentElement).colorScheme.includes("dark")
          && matchMedia("(prefers-color-scheme: dark)").matches ? "rgb(18,18,18)" : "rgb(255,255,255)"; };
      const bad = [];
      for (const element of document.querySelectorAll("body *")) {
        const hasText = [...element.childNodes].some(n => n.nodeType == 3 && n.data.trim());
        if (!hasText || element.closest("svg") || !element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        const [a, b] = [light(style.color), light(behind(element))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) bad.push(`${element.className || element.tagName} ${ratio.toFixed(2)}`);
      }
      return [...new Set(bad)].join(", ");
    })()
    """
}
