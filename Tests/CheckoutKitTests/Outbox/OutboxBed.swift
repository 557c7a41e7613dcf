// An outbox with a folder, a scripted relay and a record of what became of its contexts.

import Foundation
import Testing

@testable import CheckoutKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A device with one outbox at a time: `relaunch` makes the next, as after the death of the app.
final class OutboxBed {
  static let page = "https://buy.example.com/a?x=y"

  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("outbox-\(UUID().uuidString)", isDirectory: true)
  let transport: ScriptedTransport
  let clock: any CheckoutClock
  let outcomes = Guarded<[CheckoutOutbox.Outcome]>([])
  private let retries: RetryPolicy
  private let hasPages: Bool
  private(set) var outbox: CheckoutOutbox

  init(
    _ steps: [ScriptedTransport.Step] = [], clock: any CheckoutClock = HeldClock(),
    retries: RetryPolicy = .none, hasPages: Bool = true,
    onRequest: @escaping @Sendable (URLRequest) -> Void = { _ in }
  ) throws {
    transport = ScriptedTransport(steps, onRequest: onRequest)
    (self.clock, self.retries, self.hasPages) = (clock, retries, hasPages)
    outbox = try Self.outbox(transport, retries, clock, folder, hasPages, outcomes)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }  // Some tests make no folder.

  private static func outbox(
    _ transport: ScriptedTransport, _ retries: RetryPolicy, _ clock: any CheckoutClock, _ folder: URL,
    _ hasPages: Bool, _ outcomes: Guarded<[CheckoutOutbox.Outcome]>
  ) throws -> CheckoutOutbox {
    let page = hasPages ? try url(Self.page) : nil
    return CheckoutOutbox(
      relay: try Example.client(transport, retries: retries, clock: clock), folder: folder,
      pages: { _ in page }, onOutcome: { outcome in outcomes.withLock { $0.append(outcome) } })
  }

  /// Ends the app and launches it again.
  func relaunch() throws { outbox = try Self.outbox(transport, retries, clock, folder, hasPages, outcomes) }

  func begin(_ user: String = "jdo-1") async throws -> StartedCheckout {
    try await outbox.begin(Example.context, userID: user)
  }

  /// The ids in the folder.
  func stored() throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
      .map { $0.replacingOccurrences(of: ".json", with: "") }.sorted()
  }

  /// The bodies of the posts.
  func bodies() throws -> [[String: String]] {
    try transport.sent.map { try JSONDecoder().decode([String: String].self, from: #require($0.httpBody)) }
  }

  /// The last parts of the posts' paths.
  var endpoints: [String?] { transport.sent.map { $0.url?.lastPathComponent } }

  /// The relay's answer to a post with this id.
  static func posted(_ id: String, checkout: String? = nil) -> ScriptedTransport.Step {
    .answer(201, Example.posted(checkout: checkout).replacingOccurrences(of: Example.id, with: id))
  }

  /// The outcome of a post that the relay stored under this id.
  static func outcome(_ id: String, storedAs stored: String) throws -> CheckoutOutbox.Outcome {
    let body = Data(Example.posted().replacingOccurrences(of: Example.id, with: stored).utf8)
    let posted = PostedContext(status: 201, body: body, relay: try url("https://pay.example.com"))
    return .posted(id: id, try #require(posted))
  }

  static func problem(
    _ status: Int, _ type: String, headers: [String: String] = [:]
  ) -> ScriptedTransport.Step {
    .answer(
      status, #"{"type":"urn:receiptd:problem:\#(type)"}"#,
      headers: ["Content-Type": "application/problem+json"].merging(headers) { $1 })
  }
}

/// A clock whose date the test sets, and whose sleeps do not end.
final class DatedClock: CheckoutClock {
  private let held = HeldClock()
  private let now = Guarded(Date(timeIntervalSince1970: 1_795_255_200))

  var date: Date { now.withLock(\.self) }
  var seconds: TimeInterval { date.timeIntervalSince1970 }
  func pass(_ seconds: TimeInterval) { now.withLock { $0 += seconds } }
  func sleep(seconds: TimeInterval) async throws { try await held.sleep(seconds: seconds) }
}

extension CheckoutOutbox.Outcome {
  /// The case and the id.
  var summary: String {
    switch self {
    case .posted(let id, _): "posted \(id)"
    case .delayed(let id, _): "delayed \(id)"
    case .refused(let id, _): "refused \(id)"
    case .expired(let id): "expired \(id)"
    case .notStored(let id, _): "not stored \(id)"
    }
  }
}
