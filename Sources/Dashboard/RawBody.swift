// Bytes from outside, for reading: JSON set out in lines where it is JSON. Pure; any thread.

internal import HTML
internal import JSON
internal import Platform

enum RawBody {
  /// More is cut off: a page must not be as long as the longest webhook.
  static let shownBytesMax = 64 * 1024

  /// - Parameter name: what it is, for who cannot see the box around it.
  static func html(_ bytes: [UInt8], name: String) -> HTML {
    let isWhole = bytes.count <= shownBytesMax
    // What is no JSON is shown as it is.
    let pretty = isWhole ? (try? JSONValue(parsing: bytes))?.prettyText : nil
    let text = pretty ?? String(decoding: bytes.prefix(shownBytesMax), as: UTF8.self)
    return HTML {
      // It scrolls, so the keyboard must reach it.
      Tag.div(.class("raw"), .role("region"), .label(name), .tabindex(0)) {
        Tag.pre { Tag.code { text } }
      }
      if pretty != nil { Tag.p(.class("help")) { "Formatted for reading, with keys in alphabetical order." } }
      if !isWhole {
        Tag.p { "The first \(CountText.grouped(shownBytesMax)) of \(CountText.grouped(bytes.count)) bytes." }
      }
    }
  }
}
