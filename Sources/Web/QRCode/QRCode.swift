// QR codes (ISO/IEC 18004), made by libqrencode, which is thread-safe. Pure; called from any thread.

internal import CQREncode

/// The modules of a QR code.
public struct QRCode: Sendable, Equatable {
  /// A horizontal run of dark modules.
  public struct Run: Sendable, Equatable {
    public let x: Int
    public let y: Int
    public let length: Int
  }

  /// The most bytes that are encoded: what version 10 holds. Larger codes have modules too small for the
  /// camera of a phone at a screen.
  public static let byteCountMax = 213

  /// The modules beside each other, without the quiet zone.
  public let width: Int
  /// Row by row, from the left.
  public let runs: [Run]

  /// The modules that must stay light around a code (ISO/IEC 18004 §5.3.8).
  public static let quietZone = 4

  /// The smallest code of a text, in byte mode and with error correction of level M (15 %).
  /// - Returns: nil for a text that is empty or too long, or without memory for it.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard (1...Self.byteCountMax).contains(bytes.count),
      let code = unsafe QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M)
    else { return nil }
    defer { unsafe QRcode_free(code) }
    width = unsafe Int(code.pointee.width)
    var runs: [Run] = []
    for y in 0..<width {
      var start: Int?
      for x in 0...width {
        // The lowest bit of a module is set if it is dark.
        let isDark = unsafe x < width && code.pointee.data[y * width + x] & 1 == 1
        if isDark, start == nil { start = x }
        if !isDark, let first = start {
          runs.append(Run(x: first, y: y, length: x - first))
          start = nil
        }
      }
    }
    self.runs = runs
  }
}
