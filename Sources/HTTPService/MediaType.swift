// What kind of body a request has. Pure; any thread.

public import HTTPServer

/// The kinds that the service reads.
public enum MediaType: Sendable {
  case json, form
}

extension RequestHead {
  /// The media type of the body; parameters such as a charset do not matter (RFC 9110 §8.3). Nil for another
  /// one, and without one.
  public var mediaType: MediaType? {
    guard let field = headerBytes("Content-Type") else { return nil }
    var type: [UInt8] = []
    type.reserveCapacity(field.count)
    for byte in field {
      if byte == UInt8(ascii: ";") { break }
      if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { continue }
      type.append(byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
    }
    if type.elementsEqual("application/json".utf8) { return .json }
    return type.elementsEqual("application/x-www-form-urlencoded".utf8) ? .form : nil
  }
}
