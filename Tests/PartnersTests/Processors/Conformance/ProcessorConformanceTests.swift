// The requirements for every payment processor: `PaymentProcessor` and `ProcessorQueries` as executable
// tests.

import Formats
import Config
import Domain
import Partners
import Testing

/// An id that would change the URL's destination if it were not escaped.
private let hostile = "../x?y#z @evil.test//é%2F"

/// Bodies that no processor sends.
private let strange: [[UInt8]] = [
  [], [0], Array("{".utf8), Array("{}".utf8), Array("[]".utf8), Array("null".utf8), Array("0".utf8),
  Array(repeating: UInt8(ascii: "["), count: 5000), [0xFF, 0xFE, 0x00, 0x80],
  Array(#"{"id":1,"type":[],"data":{"object":7}}"#.utf8), Array("   \n".utf8),
]

@Suite("The conformance of payment processors")
struct ProcessorConformanceTests {
  typealias Fixture = ProcessorFixture

  @Test func `Every registered processor has a fixture here`() {
    let names = ProcessorRegistry.standard.kinds.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(names).isSubset(of: Fixture.all.map(\.name)))
    #expect(Fixture.all.count == 4, "each fixture could be made")
  }

  @Test(arguments: Fixture.all)
  func `Its name fits a URL, a key of the configuration and a metric's label`(_ fixture: Fixture) {
    #expect(fixture.name.text.wholeMatch(of: /[a-z][a-z0-9_]{0,31}/) != nil)
  }

  @Test(arguments: Fixture.all)
  func `A request of the processor is accepted, and is about its purchase`(_ fixture: Fixture) throws {
    #expect((fixture.genuine + fixture.hints).isEmpty == !type(of: fixture.processor).hasWebhooks)
    for request in fixture.genuine + fixture.hints {
      let isHint = fixture.genuine.isEmpty
      #expect(fixture.processor.authenticate(request, now: readAt) == (isHint ? .hint : .genuine))
      let reading = fixture.processor.read(request.body, now: readAt)
      let id = try #require(reading.id)
      #expect(UntrustedText.identifier(id.text) == id.text)
      #expect(!reading.type.isEmpty)
      let key = try #require(Self.key(reading))
      #expect(key.processor == fixture.name)
      #expect(UntrustedText.identifier(key.id.text) == key.id.text)
      #expect(!key.id.text.contains(":"), "a colon begins what is in the place of a forgotten user's id")
    }
  }

  private static func key(_ reading: EventReading) -> PurchaseKey? {
    switch reading.content {
    case .purchase(let report, _): report.key
    case .fetchFirst(let key, _, _): key
    case .customer, .nothing: nil
    }
  }

  @Test(arguments: Fixture.all)
  func `No request is genuine without the processor's secret`(_ fixture: Fixture) {
    for body in strange + (fixture.genuine + fixture.hints).map(\.body) {
      let bare = WebhookRequest(body: body, address: "192.0.2.1") { _ in [] }
      #expect(fixture.processor.authenticate(bare, now: readAt) != .genuine)
      let empty = WebhookRequest(body: body, address: "", pathToken: "") { _ in ["", ""] }
      #expect(fixture.processor.authenticate(empty, now: readAt) != .genuine)
      guard !type(of: fixture.processor).hasWebhooks else { continue }
      #expect(fixture.processor.authenticate(bare, now: readAt) == .refused(.sender))
      #expect(fixture.processor.authenticate(empty, now: readAt) == .refused(.sender))
    }
  }

  @Test(arguments: Fixture.all)
  func `Any bytes have a reading, and always the same one`(_ fixture: Fixture) {
    let samples = (fixture.genuine + fixture.hints).map(\.body)
    let cut = samples.flatMap { body in
      stride(from: 0, to: body.count, by: 7).map { Array(body.prefix($0)) }
    }
    for body in strange + cut {
      let reading = fixture.processor.read(body, now: readAt)
      #expect(reading == fixture.processor.read(body, now: readAt))
      if let id = reading.id { #expect(UntrustedText.identifier(id.text) == id.text) }
    }
    for body in strange { #expect(Self.key(fixture.processor.read(body, now: readAt)) == nil) }
  }

  @Test(arguments: Fixture.all)
  func `It gives the rules of the join`(_ fixture: Fixture) {
    let kind = type(of: fixture.processor)
    #expect(kind.rules(isAsked: true).isAsked)
    #expect(!kind.rules(isAsked: false).isAsked)
    #expect(kind.rules(isAsked: true).repeatPeriod > .zero)
  }

  @Test(
    "Without a key nothing is looked up; with one, every request goes to its own host", arguments: Fixture.all
  )
  func questions(_ fixture: Fixture) throws {
    #expect(fixture.withoutKey.queries == nil)
    let queries = try #require(fixture.processor.queries)
    #expect(queries.base.hasPrefix("https://"))
    #expect(!queries.base.hasSuffix("/"))
    #expect(queries.ratePerSecond > 0)
    var odd = fixture.key
    odd.id = ObjectID(hostile)
    var asked: [ProcessorQuery] = []
    for lacking in [nil, Reason.price, .user, .checkout, .subscription] {
      for key in [fixture.key, odd] {
        for sessionID in [nil, "cs_1", SessionID(hostile)] {
          asked += queries.lookups(of: key, sessionID: sessionID, lacking: lacking)
        }
      }
      #expect(!queries.lookups(of: fixture.key, sessionID: nil, lacking: lacking).isEmpty)
    }
    for list in queries.eventLists(EventSelection(since: readAt, undeliveredOnly: true)) {
      asked += [list.page(after: nil), list.page(after: hostile)]
    }
    for query in asked {
      #expect(query.target.hasPrefix("/"))
      #expect(query.url(at: queries.base).hasPrefix(queries.base + "/"))
      #expect(query.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(query.target)")
      #expect(!query.target.contains("evil.test//"), "an id is escaped")
      for secret in fixture.secrets { #expect(!query.target.contains(secret)) }
    }
  }

  @Test(arguments: Fixture.all)
  func `An answer is about the requested purchase, and nonsense gives no report`(_ fixture: Fixture) throws {
    let queries = try #require(fixture.processor.queries)
    for body in fixture.answers {
      let report = try #require(queries.report(from: body, about: fixture.key, now: readAt))
      #expect(report.key == fixture.key)
    }
    for body in strange {
      #expect(queries.report(from: body, about: fixture.key, now: readAt) == nil)
      #expect(queries.page(from: body) == nil)
    }
  }

  @Test(arguments: Fixture.all)
  func `Every status has a verdict`(_ fixture: Fixture) throws {
    let queries = try #require(fixture.processor.queries)
    #expect(queries.judge(status: 200) == .answered)
    #expect(queries.judge(status: 404) == .notFound)
    #expect(queries.judge(status: nil) == .transient, "no answer")
    for status in Array(300...399) + [401, 403, 429] + Array(500...599) {
      #expect(queries.judge(status: status) != .answered, "\(status)")
      #expect(queries.judge(status: status) != .notFound, "\(status)")
    }
  }

  @Test(
    "Calls of captures go to its own host, repeats are equal, and nonsense ends no capture",
    arguments: Fixture.all)
  func captures(_ fixture: Fixture) {
    guard let captures = fixture.processor.captures else { return }
    #expect(fixture.withoutKey.captures == nil)
    var odd = fixture.key
    odd.id = ObjectID(hostile)
    for key in [fixture.key, odd] {
      let payment = CapturablePayment(
        key: key, facts: PaymentFacts(amount: "1.00", currency: "USD", reference: "ref1"), startedAt: readAt,
        orderedAt: readAt)
      #expect(captures.captureCall(payment) == captures.captureCall(payment))
      for call in [captures.lookupCall(payment), captures.captureCall(payment)].compactMap(\.self) {
        #expect(call.url(at: captures.base).hasPrefix(captures.base + "/"))
        #expect(call.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(call.target)")
        #expect(!call.target.contains("evil.test//"), "an id is escaped")
        #expect(call.timeout > .zero)
        for secret in fixture.secrets { #expect(!call.target.contains(secret)) }
      }
      for reply in Self.unclearReplies {
        #expect(Self.isUnclear(captures.readCapture(reply, of: payment, now: readAt)), "\(reply)")
        #expect(Self.isUnclear(captures.readLookup(reply, of: payment, now: readAt)), "\(reply)")
      }
    }
  }

  private static let unclearReplies: [BackendReply] =
    [.unreachable, .noAnswer(isTimeout: true), .noAnswer(isTimeout: false)]
    + [200, 201, 202, 301, 400, 401, 402, 404, 412, 422, 429, 500, 503].flatMap { status in
      strange.map { .answer(status: status, contentType: "application/json", body: $0) }
    }

  private static func isUnclear(_ reading: CaptureReading) -> Bool {
    if case .unclear = reading { true } else { false }
  }
}
