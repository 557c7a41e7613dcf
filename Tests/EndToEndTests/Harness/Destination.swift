// A destination that answers by a test's script, and records its requests with their times.

import Formats
import HTTPServer
import Platform

/// A replacement for Purchasely's endpoint. Owns its server and a thread for late answers; `stop` ends them.
final class Destination: Sendable {
  /// How to answer a request.
  indirect enum Answer: Sendable {
    case status(Int, headers: [String: String] = [:], body: String? = nil)
    /// An answer after this time.
    case late(Duration, Answer)
    /// No answer while the destination exists.
    case silence

    static let taken = Answer.status(200)

    /// Whether it accepts the receipt.
    fileprivate var accepts: Bool {
      switch self {
      case .status(let status, _, let body): (200...299).contains(status) && body == nil
      case .late(_, let answer): answer.accepts
      case .silence: false
      }
    }
  }

  /// A received request.
  struct Entry: Sendable {
    /// From 0.
    let number: Int
    let at: MonotonicInstant
    let head: RequestHead
    let body: [UInt8]
    /// The body; null when it is not JSON.
    let json: JSONValue

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The text of a member of the body.
    subscript(name: String) -> String? { json[name]?.stringValue }

    var objectID: String? { self["stripe_object_id"] }
  }

  fileprivate struct State {
    var entries: [Entry] = []
    var accepted: [Entry] = []
    var script: [Answer] = []
    var otherwise: @Sendable (Entry) -> Answer = { _ in .taken }
    var late: [(at: MonotonicInstant, response: Response, responder: Responder)] = []
    var silenced: [Responder] = []
    var isStopping = false
  }

  let port: UInt16
  private let state: Monitor<State>
  private let server: Server
  private let clerk: WorkerThread
  private let scheme: String

  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - tls: plain HTTP when nil.
  init(port: UInt16 = 0, tls: ServerConfiguration.Identity? = nil) throws {
    scheme = tls == nil ? "http" : "https"
    let state = Monitor(State())
    self.state = state
    var configuration = ServerConfiguration(address: "127.0.0.1", port: port, tls: tls)
    configuration.connectionsPerAddress = 2000
    server = try Server(configuration, handler: Counter(state: state))
    self.port = server.port
    clerk = try WorkerThread(name: "destination") { Self.answerLate(state) }
  }

  func stop() {
    state.update { $0.isStopping = true }
    clerk.join()
    let silenced = state.withLock { state in
      defer { state.silenced = [] }
      return state.silenced
    }
    for responder in silenced { responder.respond(Response(status: 503)) }
    server.stop(grace: .zero)
  }

  var url: String { "\(scheme)://127.0.0.1:\(port)/receipts" }

  // MARK: The script

  /// The answers to the next requests, in order.
  func answer(_ script: Answer...) { state.withLock { $0.script += script } }

  /// The answer to every request after the script's end.
  func answerAll(_ answer: Answer) { state.withLock { $0.otherwise = { _ in answer } } }

  func answerAll(_ choose: @escaping @Sendable (Entry) -> Answer) { state.withLock { $0.otherwise = choose } }

  // MARK: The ledger

  var ledger: [Entry] { state.withLock { $0.entries } }

  /// The requests that it accepted.
  var accepted: [Entry] { state.withLock { $0.accepted } }

  /// The requests about one object.
  func ledger(of objectID: String) -> [Entry] { ledger.filter { $0.objectID == objectID } }

  /// Waits for this number of requests.
  func waitFor(requests count: Int) throws -> [Entry] {
    let deadline = MonotonicInstant.now().advanced(by: Waiting.patience)
    let entries = state.wait(until: deadline) { $0.entries.count >= count ? $0.entries : nil }
    guard let entries else { throw NeverHappened(what: "\(count) requests to the destination") }
    return entries
  }

  // MARK: Answers

  fileprivate static func response(_ answer: Answer, to entry: Entry) -> Response? {
    guard case .status(let status, let headers, let body) = answer else { return nil }
    let standard =
      (200...299).contains(status)
      ? #"{"id":"imp-\#(entry.number)"}"# : #"{"errors":["scripted \#(status)"]}"#
    var response = Response(status: status, type: "application/json", body: Array((body ?? standard).utf8))
    response.headers += headers.map { ($0.key, $0.value) }
    return response
  }

  private static func answerLate(_ state: Monitor<State>) {
    while true {
      let next = state.withLock {
        $0.isStopping ? nil : $0.late.map(\.at).min() ?? .now().advanced(by: .seconds(60))
      }
      guard let next else { return }
      let count = state.withLock { $0.late.count }
      let _: Bool? = state.wait(until: next) { $0.isStopping || $0.late.count != count ? true : nil }
      let now = MonotonicInstant.now()
      let due = state.withLock { state in
        defer { state.late.removeAll { $0.at <= now } }
        return state.late.filter { $0.at <= now }
      }
      for item in due { item.responder.respond(item.response) }
    }
  }
}

/// Handles the destination's requests. The server's threads.
private struct Counter: RequestHandler {
  let state: Monitor<Destination.State>

  func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: 1 << 20) }

  func handle(_ request: Request, _ responder: Responder) {
    let now = MonotonicInstant.now()
    // A body that is not JSON fails in the tests that read its members.
    let json = (try? JSONValue(parsing: request.body)) ?? .null
    let (entry, answer) = state.update { state in
      let entry = Destination.Entry(
        number: state.entries.count, at: now, head: request.head, body: request.body, json: json)
      state.entries.append(entry)
      let answer = state.script.isEmpty ? state.otherwise(entry) : state.script.removeFirst()
      if answer.accepts { state.accepted.append(entry) }
      return (entry, answer)
    }
    switch answer {
    case .status: if let response = Destination.response(answer, to: entry) { responder.respond(response) }
    case .late(let delay, let answer):
      guard let response = Destination.response(answer, to: entry) else { return }
      state.update { $0.late.append((now.advanced(by: delay), response, responder)) }
    case .silence: state.withLock { $0.silenced.append(responder) }
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response { Response(status: 503) }
}
