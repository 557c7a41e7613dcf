// The media type of a request's body. Pure; called from any thread.

public import HTTPServer

/// The media types that the service accepts.
public enum MediaType: Sendable {
  case json, form
}

extension RequestHead {
  /// Whether the body has a content coding (RFC 9110 §8.4), such as gzip. None is decoded here: a small body
  /// could become a huge one.
  public var hasCodedBody: Bool {
    guard headerBytes("Content-Encoding") != nil else { return false }
    return isUndecodable("Content-Encoding")
      || headers("Content-Encoding").contains { !["", "identity"].contains($0.lowercased()) }
  }

  /// The media type of the body, without parameters such as a charset (RFC 9110 §8.3). Nil for another type,
  /// and if there is none.
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
