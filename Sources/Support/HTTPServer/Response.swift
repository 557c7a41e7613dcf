// An answer of the application. A value; thread-safe.

/// An HTTP response.
public struct Response: Sendable {
  /// 200 to 599; anything else is sent as 500.
  public var status: Int
  /// Fields that cannot be sent (RFC 9110 §5.5: line breaks, an empty name or value) are dropped and logged.
  /// So are `Connection`, `Content-Length`, `Date` and `Transfer-Encoding`, which the server sets.
  public var headers: [(name: String, value: String)]
  /// Not sent for HEAD, 204 and 304.
  public var body: [UInt8]
  /// Makes the body while it is sent, instead of `body`. It is not asked for HEAD, 204 and 304.
  public var stream: (any BodyStream)?
  /// Whether the connection is closed after this answer.
  public var closesConnection = false

  public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// - Parameter type: the media type, for example `application/json`.
  public init(status: Int, type: String, body: [UInt8]) {
    self.init(status: status, headers: [("Content-Type", type)], body: body)
  }

  /// A body of unknown length. HTTP/1.1 sends it in chunks; for HTTP/1.0 its end is that of the connection,
  /// and an answer to HEAD closes the connection, too.
  public init(status: Int, headers: [(name: String, value: String)], stream: any BodyStream) {
    self.init(status: status, headers: headers)
    self.stream = stream
  }

  /// Plain text in UTF-8.
  public init(status: Int, text: String) {
    self.init(status: status, type: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  /// The same answer, closing the connection.
  func closing() -> Response {
    var copy = self
    copy.closesConnection = true
    return copy
  }

  /// The status to send: 500 if `status` is out of range.
  var sendableStatus: Int { 200...599 ~= status ? status : 500 }

  /// Why a header field may not be sent, or nil.
  static func fault(name: String, value: String) -> String? {
    guard !name.isEmpty, all(name, Token.isByte) else {
      return "a response header without a valid name"
    }
    guard !value.isEmpty, all(value, { $0 >= 0x20 && $0 != 0x7F }) else {
      return "the response header \(name): empty, or with a control character"
    }
    guard !isReserved(name) else { return "the response header \(name): it is the server's own" }
    return nil
  }

  private static func all(_ text: String, _ condition: (UInt8) -> Bool) -> Bool {
    let bytes = text.utf8.span
    for index in bytes.indices where !condition(bytes[index]) { return false }
    return true
  }

  /// The fields that describe the connection or the message itself. The switch on the length rules out most
  /// other names cheaply.
  private static func isReserved(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: name.lowercased() == "date"
    case 10: name.lowercased() == "connection"
    case 14: name.lowercased() == "content-length"
    case 17: name.lowercased() == "transfer-encoding"
    default: false
    }
  }
}
