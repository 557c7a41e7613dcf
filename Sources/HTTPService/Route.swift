// What is decided about one path of a listener, in one place: its form, its methods, its label, how long a
// body may be, who may come in, and who answers. A value; any thread.

public import HTTPServer

/// A path of a listener.
public struct Route: Sendable {
  /// Answers a complete request.
  public typealias Handler = @Sendable (Request, Exchange) -> Void
  /// Decides from the head whether a request may come in, before any byte of its body.
  /// - Returns: who answers it once it is complete.
  public typealias Admit = @Sendable (Visit) throws(Problem) -> Handler

  /// `/v1/{app}/contexts`: a name in braces stands for one segment, which `Visit` gives by this name.
  public let path: String
  public let methods: [String]
  /// The value of the label `route` in metrics and log lines.
  public let label: String
  /// 0 for a request without a body.
  public let bodyBytesMax: Int
  /// Whether requests may use the connections that the server keeps free.
  public let usesReserve: Bool
  /// Whether only the path as it is written counts, and no other spelling with escapes (RFC 3986 §2.1).
  public let isLiteral: Bool
  let admit: Admit

  /// Reading. Every path that can be read answers `HEAD`, too (RFC 9110 §9.3.2).
  public static let reading = ["GET", "HEAD"]

  public init(
    _ methods: [String], _ path: String, label: String, bodyBytesMax: Int = 0, usesReserve: Bool = false,
    isLiteral: Bool = false, admit: @escaping Admit
  ) {
    self.path = path
    self.methods = methods
    self.label = label
    self.bodyBytesMax = bodyBytesMax
    self.usesReserve = usesReserve
    self.isLiteral = isLiteral
    self.admit = admit
  }

  /// A path that everyone may read.
  public init(read path: String, label: String, handle: @escaping Handler) {
    self.init(Self.reading, path, label: label) { _ throws(Problem) in handle }
  }
}

/// A request that a route was found for.
public struct Visit: Sendable {
  public let head: RequestHead
  /// Who it is, as the listener found out before it looked for a route; empty where nobody has to say.
  public let visitor: String
  let parameters: [(name: String, value: String)]

  /// The segment that stands for a name in the route's path; nil when it has no such name.
  public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
}
