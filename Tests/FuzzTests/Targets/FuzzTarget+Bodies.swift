// Compressed bodies, and the samples that dictionaries are made from.

import Formats
import Store

@testable import Upkeep

extension FuzzTarget {
  private static let codec = Result { try FrameCodec() }
  private static let sizeMax = 1 << 16

  /// A damaged database is untrusted input: any bytes give the text of one frame, or an error.
  static let frame = FuzzTarget("frame") { bytes in
    let codec = try codec.get()
    let frame = try codec.compress(bytes)
    try hold(try codec.decompress(frame, sizeMax: bytes.count) == bytes, "it is not read back")
    // The checksum of a mutated frame is almost always wrong, so frames without one are tried, too.
    guard let text = try? codec.decompress(bytes, sizeMax: sizeMax) else { return }
    try hold(text.count <= sizeMax, "it is longer than allowed")
    try hold(try codec.decompress(codec.compress(text), sizeMax: sizeMax) == text, "it changes")
  }

  /// A sample has the form of its body, and nothing of its strings.
  static let sample = FuzzTarget("sample") { bytes in
    let isJSON = JSONDocument.read(bytes) { _ in true } == true
    let body = (body: bytes, owner: "one")
    var filler = Filler(seed: 1)
    guard let sample = AnonymousSamples([body]).sample(bytes, &filler) else {
      return try hold(!isJSON, "JSON makes no sample")
    }
    try hold(isJSON, "it is not JSON")
    try hold(sample.count == bytes.count, "its length changes")
    // Outside of strings there is only a byte order mark (RFC 8259 §8.1).
    for (old, new) in zip(bytes, sample).dropFirst(bytes.first == 0xEF ? 3 : 0) where old >= 0x80 {
      try hold(new < 0x80, "a letter stays")
    }
  }
}
