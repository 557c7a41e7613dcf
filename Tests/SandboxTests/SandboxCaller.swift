// A client of the simulated services, and a receiver of callbacks. Each belongs to one test.

import Formats
import HTTPClient
import HTTPServer
import Platform
import Testing

/// Sends requests, one after the other.
final class SandboxCaller {
  private let base: String
  private let headers: [TransferHeader]
  private let pool: TransferPool

  init(_ base: String, _ headers: [(String, String)]) throws {
    self.base = base
    self.headers = headers.map { TransferHeader($0.0, $0.1) }
    pool = try TransferPool(connectionsMax: 1)
  }

  /// - Parameter target: path and query, or a URL.
  func send(
    _ method: TransferRequest.Method, _ target: String, _ body: JSONValue? = nil, type: String? = nil,
    timeout: Duration = .seconds(300)
  ) throws -> TransferResult {
    var all = headers
    if let type = type ?? (body == nil ? nil : "application/json") {
      all.append(TransferHeader("Content-Type", type))
    }
    let url = target.hasPrefix("http") ? target : base + target
    let request = TransferRequest(
      method: method, url: url, headers: all, body: body?.serialized() ?? [], timeout: timeout)
    return try pool.answer(to: request)
  }

  func get(_ target: String, type: String? = nil) throws -> JSONValue {
    try JSONValue(parsing: send(.get, target, type: type).body)
  }
}

extension TransferPool {
  /// Sends a request, and waits for its answer.
  func answer(to request: TransferRequest) throws -> TransferResult {
    try start(request, tag: 0)
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    while MonotonicInstant.now() < deadline {
      if let result = run(timeout: .seconds(1)).first?.result { return result }
    }
    throw TransferFailure.timeout
  }
}

extension TransferResult {
  var json: JSONValue? { try? JSONValue(parsing: body) }
}

extension JSONValue {
  /// The value at a path such as `["paymentOrder", "id"]`; a number selects an element.
  func at(_ path: String...) -> JSONValue? {
    path.reduce(self) { value, name in
      if case .array(let elements)? = value {
        return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      }
      return value?[name]
    }
  }

  func text(_ path: String...) -> String? { path.reduce(self) { $0?[$1] }?.stringValue }

  /// The relations of an order's operations.
  var rels: [String] {
    guard case .array(let list)? = self["operations"] else { return [] }
    return list.compactMap { $0["rel"]?.stringValue }
  }

  /// The path of an operation.
  func path(of rel: String, at base: String) -> String? {
    guard case .array(let list)? = self["operations"] else { return nil }
    let href = list.first { $0["rel"]?.stringValue == rel }?["href"]?.stringValue
    return href.flatMap { $0.hasPrefix(base) ? String($0.dropFirst(base.count)) : nil }
  }
}

/// A server that keeps the bodies that it gets, and answers with the statuses that the test sets.
final class CallbackReceiver: RequestHandler {
  struct State {
    var bodies: [JSONValue] = []
    /// Of the next answers; 200 when there are no more.
    var statuses: [Int] = []
  }

  let state = Monitor(State())

  /// Starts to listen; the server must be stopped.
  func serve() throws -> Server { try Server(ServerConfiguration(address: "127.0.0.1"), handler: self) }

  func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: 10_000) }

  func handle(_ request: Request, _ responder: Responder) {
    let status = state.update { state in
      state.bodies.append((try? JSONValue(parsing: request.body)) ?? .null)
      return state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
    }
    responder.respond(Response(status: status, text: "ok"))
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    Response(status: 500, text: "rejected")
  }

  /// Waits for this number of callbacks.
  func bodies(_ count: Int) throws -> [JSONValue] {
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    return try #require(state.wait(until: deadline) { $0.bodies.count >= count ? $0.bodies : nil })
  }
}
