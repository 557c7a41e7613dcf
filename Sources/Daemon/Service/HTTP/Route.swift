// Everything about one path of a listener: its pattern, methods, label, body limit, admission and handler. A
// value.

public import Domain
public import HTTPServer

/// A path of a listener.
public struct Route: Sendable {
  /// Answers a complete request.
  public typealias Handler = @Sendable (Request, Exchange) -> Void
  /// Decides from the head whether to admit a request, before any byte of its body.
  /// - Returns: the handler of the complete request.
  public typealias Admit = @Sendable (Visit) throws(Problem) -> Handler
  /// Expresses a problem as the clients of a route parse it. The app is the one that the path names.
  public typealias ProblemForm = @Sendable (Problem, _ requestID: String, _ app: AppSlug?) -> Response

  /// The pattern, such as `/v1/{app}/contexts`: a name in braces matches one segment, which `Visit` returns
  /// by this name. A pattern that ends in a slash matches only paths that do.
  public let path: String
  public let methods: [String]
  /// The value of the label `route` in metrics and log lines.
  public let label: String
  /// 0 for a request without a body.
  public let bodyBytesMax: Int
  /// Whether requests may use the reserved connections of the server.
  public let usesReserve: Bool
  /// Whether the handler gets bodies with a content coding, too. They are refused otherwise (`hasCodedBody`).
  public let readsCodedBodies: Bool
  /// Whether only the literal path matches, without percent-encoded variants (RFC 3986 §2.1).
  public let isLiteral: Bool
  /// Whether web pages of the origins that the app lists may read its answers (`CrossOriginAccess`).
  public let isForPages: Bool
  /// Whether users who may not change anything may use it with any method.
  public let changesNothing: Bool
  /// The form of every problem of the route, also of one that the server finds; nil for a problem document.
  public let problemForm: ProblemForm?
  let admit: Admit

  /// The methods for reading. Every path with `GET` answers `HEAD`, too (RFC 9110 §9.3.2).
  public static let reading = ["GET", "HEAD"]

  public init(
    _ methods: [String], _ path: String, label: String, bodyBytesMax: Int = 0, usesReserve: Bool = false,
    readsCodedBodies: Bool = false, isLiteral: Bool = false, isForPages: Bool = false,
    changesNothing: Bool = false, problemForm: ProblemForm? = nil, admit: @escaping Admit
  ) {
    self.path = path
    self.methods = methods
    self.label = label
    self.bodyBytesMax = bodyBytesMax
    self.usesReserve = usesReserve
    self.readsCodedBodies = readsCodedBodies
    self.isLiteral = isLiteral
    self.isForPages = isForPages
    self.changesNothing = changesNothing
    self.problemForm = problemForm
    self.admit = admit
  }

  /// The same path, with a handler that does not run on the listener's thread.
  /// - Parameter run: runs the handler of a complete request.
  public func handled(by run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) -> Route {
    Route(
      methods, path, label: label, bodyBytesMax: bodyBytesMax, usesReserve: usesReserve, isLiteral: isLiteral,
      isForPages: isForPages, changesNothing: changesNothing, problemForm: problemForm
    ) { [admit] visit throws(Problem) in
      let handle = try admit(visit)
      return { request, exchange in run { handle(request, exchange) } }
    }
  }

  /// Makes a read-only path without admission checks.
  public init(read path: String, label: String, handle: @escaping Handler) {
    self.init(Self.reading, path, label: label) { _ throws(Problem) in handle }
  }
}

/// The authenticated user of a listener.
public struct Visitor: Sendable {
  /// Empty if the listener requires none.
  public let name: String
  /// Whether the user may change something, and read personal bodies.
  public let mayChange: Bool
  /// Header fields of the answer.
  public var fields: [(name: String, value: String)]

  public init(name: String, mayChange: Bool = true, fields: [(name: String, value: String)] = []) {
    self.name = name
    self.mayChange = mayChange
    self.fields = fields
  }
}

/// A request with its matched route parameters.
public struct Visit: Sendable {
  public let head: RequestHead
  /// The authenticated user of the listener; empty if the listener requires none.
  public let visitor: String
  /// Whether the user may change something, and read personal bodies.
  public var mayChange = true
  let parameters: [(name: String, value: String)]

  /// The decoded segment that a name of the route's path matched; nil if it has no such name.
  public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
}

/// The form of problems about paths below a root that have no route.
public struct ProblemRoot: Sendable {
  private let segments: [Substring]
  let form: Route.ProblemForm

  /// - Parameter root: a pattern such as `/v1/{app}/pay/`, as of a route, which ends in a slash.
  public init(_ root: String, form: @escaping Route.ProblemForm) {
    segments = root.split(separator: "/")
    self.form = form
  }

  /// Whether a path is below the root.
  public func contains(_ path: String) -> Bool {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    guard parts.count >= segments.count else { return false }
    return zip(parts, segments).allSatisfy { part, segment in
      segment.hasPrefix("{") ? !part.isEmpty : part.elementsEqual(segment.utf8)
    }
  }
}
