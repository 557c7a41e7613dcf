// Compressed bodies.

import Store

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
}
