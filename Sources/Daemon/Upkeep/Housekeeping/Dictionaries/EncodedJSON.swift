// JSON in base64 inside of a JSON string, as contexts are. Pure.

internal import Formats

/// A string of a JSON text that is JSON in base64.
struct EncodedJSON {
  /// Shorter strings are not decoded: most of them are words.
  private static let bytesMin = 24

  let text: [UInt8]
  private let isURL: Bool

  /// - Parameter token: with its quotation marks.
  /// - Returns: nil if it is anything else, or if `encode` would not restore it.
  init?(_ token: ArraySlice<UInt8>) {
    guard token.count >= Self.bytesMin, token.first == UInt8(ascii: "\"") else { return nil }
    let inner = token.dropFirst().dropLast()
    guard let text = Base64.decode(inner.span, .lenient),
      JSONDocument.read(text, { _ in true }) == true
    else { return nil }
    self.text = text
    if Base64.encode(text).utf8.elementsEqual(inner) {
      isURL = false
    } else if Base64.encodeURL(text).utf8.elementsEqual(inner) {
      isURL = true
    } else {
      return nil
    }
  }

  /// Another text in the same form, without quotation marks.
  func encode(_ other: [UInt8]) -> [UInt8] {
    Array((isURL ? Base64.encodeURL(other) : Base64.encode(other)).utf8)
  }
}
