// Untrusted bytes for display: JSON is indented. Pure; called from any thread.

internal import Formats
internal import Platform

enum RawBody {
  /// Longer content is truncated, so that the page's size is bounded.
  static let shownBytesMax = 64 * 1024

  /// - Parameter name: the accessible name of the region.
  static func html(_ bytes: [UInt8], name: String) -> HTML {
    let isWhole = bytes.count <= shownBytesMax
    // Anything but JSON is shown unchanged.
    let pretty = isWhole ? (try? JSONValue(parsing: bytes))?.prettyText : nil
    let text = pretty ?? String(decoding: bytes.prefix(shownBytesMax), as: UTF8.self)
    return HTML {
      // The region scrolls, so it must be reachable by keyboard.
      Tag.div(.class("raw"), .role("region"), .label(name), .tabindex(0)) {
        Tag.pre { Tag.code { text } }
      }
      // One line was not formatted.
      if let pretty, pretty.contains("\n") {
        Tag.p(.class("help")) { "Formatted for reading, with keys in alphabetical order." }
      }
      if !isWhole {
        Tag.p { "The first \(CountText.grouped(shownBytesMax)) of \(CountText.grouped(bytes.count)) bytes." }
      }
    }
  }
}
