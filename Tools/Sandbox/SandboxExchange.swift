// Requests to simulated payment services and what became of them, as values. Pure; any thread.

internal import Formats
public import HTTPServer

/// A request to a simulated service.
public struct SandboxRequest: Sendable {
  public var method: String
  /// Not decoded.
  public var path: String
  /// Not decoded; nil without one.
  public var query: String?
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]

  /// - Parameter target: path and query.
  public init(
    _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) {
    self.method = method
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts.first.map(String.init) ?? ""
    query = parts.count > 1 ? String(parts[1]) : nil
    self.headers = headers
    self.body = body
  }

  /// The fields that the services read.
  private static let names = ["Authorization", "User-Agent", "Content-Type", "Accept"]

  init(_ request: Request) {
    self.init(request.head.method, request.head.originTarget, body: request.body)
    for name in Self.names {
      if let value = request.head.header(name) { headers.append((name, value)) }
    }
  }

  /// The first header field of that name, case-insensitive.
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The media type without parameters, in lower case.
  var mediaType: String? { header("Content-Type").map { Self.parts($0)[0].lowercased() } }

  /// A parameter of the media type, such as `version`.
  func mediaParameter(_ name: String) -> String? {
    Self.parts(header("Content-Type") ?? "").dropFirst().first { $0.lowercased().hasPrefix(name + "=") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  private static func parts(_ value: String) -> [String] {
    value.split(separator: ";", omittingEmptySubsequences: false).map { part in
      var part = part.drop { $0 == " " }
      while part.last == " " { part.removeLast() }
      return String(part)
    }
  }

  /// Whether a browser's form sent it.
  var isForm: Bool { mediaType == "application/x-www-form-urlencoded" }

  /// The parts between the slashes, decoded. A slash at the end is ignored.
  var segments: [String] {
    path.split(separator: "/").map { PercentEncoding.decode($0.utf8.span) ?? String($0) }
  }

  /// The value of a field of the query; nil without one.
  func parameter(_ name: String) -> String? {
    let query = query ?? ""
    return (try? FormFields.value(of: name, in: query.utf8.span)) ?? nil
  }

  /// The body, if it is a JSON object.
  var object: JSONValue? {
    guard let value = try? JSONValue(parsing: body), case .object = value else { return nil }
    return value
  }
}

/// A service's answer before any fault.
public struct SandboxOutcome: Sendable {
  public var response: Response
  /// What happened, for the user of the stand-in; nil if the request says it all.
  public var note: String?

  init(_ response: Response, note: String? = nil) {
    self.response = response
    self.note = note
  }

  init(_ status: Int, _ body: JSONValue, note: String? = nil) {
    self.init(Response(status: status, type: "application/json", body: body.serialized()), note: note)
  }
}

/// A request that a stand-in has received, and what it did.
public struct SandboxExchange: Sendable, Equatable {
  public var method: String
  /// Path and query, as received.
  public var target: String
  /// The operation of the API; nil for the pages of payers and the ledger.
  public var operation: String?
  /// The status of the answer; nil if none is sent.
  public var status: Int?
  public var fault: SandboxFault?
  /// What happened, if there is more to say than the status.
  public var note: String?
}

/// The data of a simulated service, and the decisions on its requests. A value without I/O, so that a
/// simulation can use it without a server.
protocol SandboxAccount: Sendable {
  /// What it sends on its own, such as callbacks.
  associatedtype Effect: Sendable

  /// The name of a request's operation; nil for pages of payers and the ledger, which never fail.
  static func operation(of request: SandboxRequest) -> String?

  /// An error in the service's form.
  static func failure(_ status: Int, _ message: String) -> Response

  /// - Parameter now: Unix milliseconds.
  mutating func answer(to request: SandboxRequest, now: Int64) -> SandboxOutcome

  /// The same answer about another payment.
  mutating func lie(_ response: Response) -> Response

  /// Removes and returns what is to be sent.
  mutating func popEffects() -> [Effect]
}

extension JSONValue {
  /// An integer's value; nil for any other kind.
  var integerValue: Int64? {
    guard case .integer(let number) = self else { return nil }
    return number
  }

  var boolValue: Bool? {
    guard case .bool(let flag) = self else { return nil }
    return flag
  }

  var elements: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  var members: [Member]? {
    guard case .object(let members) = self else { return nil }
    return members
  }
}
