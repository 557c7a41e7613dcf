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

// MARK: - MediaRanges

// The response format that a client prefers (RFC 9110 §12.5.1). Pure; called from any thread.

/// The media ranges of `Accept` fields.
public struct MediaRanges {
  private var json = 0.0
  private var html = 0.0

  /// - Parameter fields: the values of `Accept`, unparsed; unknown media ranges are ignored.
  public init(_ fields: [String]) {
    for range in fields.joined(separator: ",").split(separator: ",") {
      let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let type = parts.first else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      switch type {
      case "application/json": json = max(json, weight)
      case "text/html", "application/xhtml+xml": html = max(html, weight)
      default: break
      }
    }
  }

  /// Whether JSON is named and has at least the weight of HTML. `*/*` does not count as JSON: forms send it,
  /// and programs that send it follow redirects as well.
  public var preferJSON: Bool { json > 0 && json >= html }
}
