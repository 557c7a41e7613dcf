// Following a checkout until it ends, despite network failures, within the given time.

@testable import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct StatusTests {
  /// A transport whose relay holds a request for the requested time, by the clock.
  static func transport(_ clock: InstantClock, _ steps: [ScriptedTransport.Step]) -> ScriptedTransport {
    ScriptedTransport(steps) { request in
      guard let query = request.url?.query, let seconds = TimeInterval(query.dropFirst(5)) else { return }
      clock.pass(seconds)
    }
  }

  static func waits(_ transport: ScriptedTransport) -> [String?] { transport.sent.map { $0.url?.query } }

  @Test func `PL25: the request for the state has the context's id, and no key`() async throws {
    let transport = ScriptedTransport(.answer(200, Example.status("paid", receipt: "rcp_1")))
    let status = try await Example.client(transport).status(of: Example.id)
    let request = try #require(transport.sent.first)
    #expect(request.url?.absoluteString == "https://pay.example.com/v1/ios/contexts/\(Example.id)")
    #expect(request.httpMethod == "GET")
    #expect(request.value(forHTTPHeaderField: "X-API-KEY") == nil)
    #expect(status.contextID == Example.id)
    #expect(status.state == .paid)
    #expect(status.receiptID == "rcp_1")
    #expect(status.updatedAt == Date(timeIntervalSince1970: 1_795_168_805))
    await #expect(throws: RelayError.self) { try await Example.client(transport).status(of: "../x/..") }
  }

  @Test(
    "PL25: a checkout is pending, processing, processed or unpaid; one that was paid is never unpaid",
    arguments: try KitTables.relay().status)
  func knowsProgress(_ row: KitTables.Status) async throws {
    let answer = ScriptedTransport.Step.answer(200, Example.status(row.state, paid: row.paid))
    let status = try await Example.client(ScriptedTransport(answer)).status(of: Example.id)
    #expect(status.progress.rawValue == row.progress)
    #expect(status.progress.isOver == [.processed, .unpaid].contains(status.progress))
    #expect(row.paid == nil || status.isPaid == row.paid)
    let finals: [CheckoutStatus.State] = [.delivered, .failed, .cancelled, .expired]
    #expect(status.state.isFinal == finals.contains(status.state))
  }

  @Test("An answer without a state is no status", arguments: try KitTables.relay().notStatus)
  func refuses(_ body: String) { #expect(CheckoutStatus(body: Data(body.utf8)) == nil) }

  @Test func `The current state is delivered at once, then each change, until the end`() async throws {
    let clock = InstantClock()
    let transport = Self.transport(
      clock,
      [
        .answer(200, Example.status("open")), .answer(200, Example.status("open")),
        .answer(200, Example.status("paid")), .answer(200, Example.status("delivered", receipt: "rcp_1")),
      ])
    var states: [CheckoutStatus.State] = []
    for try await status in try Example.client(transport, clock: clock).updates(of: Example.id) {
      states.append(status.state)
    }
    #expect(states == [.open, .paid, .delivered])
    #expect(Self.waits(transport) == [nil, "wait=15", "wait=15", "wait=15"])
    // The relay held the requests, so no pause was needed.
    #expect(clock.pauses.isEmpty)
  }

  @Test func `Polling continues after network failures while there is time`() async throws {
    let clock = InstantClock()
    let offline = Array(repeating: ScriptedTransport.offline, count: 20)
    let transport = ScriptedTransport(
      [.answer(200, Example.status("open"))] + offline + [
        .answer(503), .answer(200, Example.status("delivered")),
      ])
    let status = try await Example.client(transport, clock: clock).finalStatus(of: Example.id, within: 600)
    #expect(status.state == .delivered)
    #expect(transport.sent.count == 23)
    #expect(clock.pauses.allSatisfy { $0 <= 15 })
  }

  @Test("At the timeout the error is timedOut if the relay answered, else the last failure")
  func endsInTime() async throws {
    let clock = InstantClock()
    let start = clock.seconds
    let transport = Self.transport(clock, Array(repeating: .answer(200, Example.status("open")), count: 9))
    let client = try Example.client(transport, clock: clock)
    await #expect(throws: RelayError.timedOut) { try await client.finalStatus(of: Example.id, within: 40) }
    #expect(Self.waits(transport) == [nil, "wait=15", "wait=15", "wait=10"])
    #expect(clock.seconds - start == 40)

    let dead = try Example.client(ScriptedTransport(), clock: clock)
    let error = await #expect(throws: RelayError.self) {
      try await dead.finalStatus(of: Example.id, within: 40)
    }
    guard case .network = error else { return unexpected(error) }
    #expect(clock.seconds - start <= 80)
    for seconds in [0, -1, TimeInterval.nan] {
      let one = ScriptedTransport(.answer(200, Example.status("open")))
      let hasty = try Example.client(one, clock: clock)
      await #expect(throws: RelayError.timedOut) {
        try await hasty.finalStatus(of: Example.id, within: seconds)
      }
      #expect(one.sent.count == 1)
    }
    let final = ScriptedTransport(
      .answer(200, Example.status("open")), .answer(200, Example.status("expired")))
    let endless = try Example.client(final, clock: clock)
    #expect(try await endless.finalStatus(of: Example.id, within: .infinity).state == .expired)
  }

  @Test func `A relay that answers at once is polled at most once a second`() async throws {
    let clock = InstantClock()
    let transport = ScriptedTransport(Array(repeating: .answer(200, Example.status("open")), count: 100))
    let client = try Example.client(transport, clock: clock)
    await #expect(throws: RelayError.timedOut) { try await client.finalStatus(of: Example.id, within: 10) }
    #expect((10...12).contains(transport.sent.count))
  }

  @Test func `An unknown context or an unusable answer ends the polling`() async throws {
    for (step, expected) in [
      (.answer(404, "gone"), .http(HTTPFailure(status: 404, body: "gone"))),
      (.answer(200, "{}"), .unexpectedAnswer(status: 200, body: "{}")), (.other, .notHTTP),
    ] as [(ScriptedTransport.Step, RelayError)] {
      let transport = ScriptedTransport(.answer(200, Example.status("open")), step)
      let client = try Example.client(transport)
      var states: [CheckoutStatus.State] = []
      await #expect(throws: expected) {
        for try await status in client.updates(of: Example.id) { states.append(status.state) }
      }
      #expect(states == [.open])
    }
  }

  @Test func `Cancelling the task ends the polling`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let transport = ScriptedTransport([.answer(200, Example.status("open")), .silence]) { request in
      if request.url?.query != nil { began.continuation.yield() }
    }
    let client = try Example.client(transport)
    let screen = Task { for try await _ in client.updates(of: Example.id) {} }
    for await _ in began.stream { break }
    screen.cancel()
    // The stream of a cancelled task ends instead of hanging.
    _ = await screen.result
    let asking = Task { try await client.finalStatus(of: Example.id) }
    asking.cancel()
    await #expect(throws: RelayError.cancelled) { try await asking.value }
  }

  @Test func `A status says what was charged: 0 for a trial; an older relay does not say it`() async throws {
    let body =
      #"{"context_id":"\#(Example.id)","state":"paid","paid":true,"amount":0,"currency":null,"trial":true}"#
    let trial = try #require(CheckoutStatus(body: Data(body.utf8)))
    #expect(trial.amount == 0)
    #expect(trial.currency == nil)
    #expect(trial.isTrial)
    let older = try #require(CheckoutStatus(body: Data(Example.status("paid").utf8)))
    #expect(older.amount == nil)
    #expect(!older.isTrial)
  }
}
