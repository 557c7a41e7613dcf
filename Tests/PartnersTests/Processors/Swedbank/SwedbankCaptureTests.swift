// How an authorised payment order is captured by the relay.

import Domain
import Formats
import Partners
import Testing

@Suite("Captures at Swedbank Pay")
struct SwedbankCaptureTests {
  private static let id = "/psp/paymentorders/34761895-d1e4-412a-0a30-08dc43423140"
  private static let now = SwedbankHarness.startedAt
  private static let payment = CapturablePayment(
    key: SwedbankHarness.key(id), facts: PaymentFacts(), startedAt: now, orderedAt: now)
  private static let paid =
    SwedbankSamples.json(PackageResources.swedbank_callbacks_json)["getResponsePaid"] ?? .null
  private static let operations: JSONValue = [
    ["rel": "capture", "method": "POST", "href": .string("\(SwedbankHarness.base)\(id)/captures")]
  ]

  /// The sample with members of its payment order changed.
  private static func order(_ changes: (String, JSONValue?)..., operations: JSONValue? = nil) -> JSONValue {
    let order = changes.reduce(paid["paymentOrder"] ?? .null) { $0.with($1.0, $1.1) }
    let answer = paid.with("paymentOrder", order)
    return operations.map { answer.with("operations", $0) } ?? answer
  }

  private static func captures() throws -> any PaymentCaptures {
    var settings = SwedbankHarness.settings()
    settings.capturesItself = true
    return try #require(try SwedbankHarness.processor(settings).captures)
  }

  private static func answer(_ body: JSONValue, status: Int = 200) -> BackendReply {
    .answer(status: status, contentType: "application/json", body: body.serialized())
  }

  private static let problem: JSONValue = [
    "type": "https://api.payex.com/psp/errordetail/inputerror", "title": "Error in input data", "status": 400,
  ]

  private static func read(_ body: JSONValue) throws -> CaptureReading {
    try captures().readLookup(answer(body), of: payment, now: now)
  }

  @Test("Payments are captured only if that is configured, and then without an order of an app")
  func configured() throws {
    let answer = Self.answer(Self.order(operations: Self.operations))
    let merchants = try #require(try SwedbankHarness.processor().captures)
    guard case .ended(let outcome, nil) = merchants.readLookup(answer, of: Self.payment, now: Self.now)
    else {
      Issue.record("the merchant captures")
      return
    }
    #expect(outcome.kind == .refused)
    #expect(!SwedbankHarness.settings().rules.capturesItself)
    var settings = SwedbankHarness.settings()
    settings.capturesItself = true
    #expect(settings.rules.capturesItself)
    let captures = try Self.captures()
    #expect(captures.captureCall(Self.payment) == nil, "only the order names the operation")
    #expect(captures.lookupCall(Self.payment).method == "GET")
    #expect(captures.lookupCall(Self.payment).target == "\(Self.id)?$expand=paid,orderItems")
    #expect(captures.base == SwedbankHarness.base)
  }

  @Test("The whole amount is captured by the order's own operation, always with the same reference")
  func call() throws {
    let items = #"[{"reference":"P1","amount":1.0e2}]"#
    let order = Self.order(
      ("orderItems", ["id": "/x", "orderItemList": "ITEMS"]), operations: Self.operations)
    let text = order.text.replacing("\"ITEMS\"", with: items)
    func read() throws -> CaptureReading {
      try Self.captures().readLookup(
        .answer(status: 200, contentType: nil, body: Array(text.utf8)), of: Self.payment, now: Self.now)
    }
    guard case .nothingCaptured(let call?) = try read() else {
      Issue.record("there is a capture to send")
      return
    }
    #expect(call.method == "POST")
    #expect(call.target == "\(Self.id)/captures")
    let transaction = try #require(SwedbankSamples.json(call.body)["transaction"])
    #expect(transaction["amount"] == 100)
    #expect(transaction["vatAmount"] == 0)
    let reference = try #require(transaction["payeeReference"]?.stringValue)
    #expect(reference.wholeMatch(of: /[A-Za-z0-9]{1,30}/) != nil)
    #expect(String(decoding: call.body, as: UTF8.self).contains(#","orderItems":\#(items)}}"#))
    #expect(try read() == .nothingCaptured(capturedBy: call))
  }

  @Test func `Nothing is captured twice, elsewhere, or by guessing`() throws {
    let elsewhere: JSONValue = [["rel": "capture", "href": "//evil.test/captures"]]
    let sale: JSONValue = ["transactionType": "Sale"]
    for (answer, expected) in [
      (Self.order(("remainingCaptureAmount", 0), operations: []), CaptureOutcome.Kind.captured),
      (Self.order(("remainingCaptureAmount", nil), ("paid", sale), operations: []), .captured),
      (Self.order(operations: []), nil),
      (Self.order(("remainingCaptureAmount", 40), operations: Self.operations), .refused),
      (Self.order(("status", "Cancelled"), operations: Self.operations), .refused),
      (Self.order(("status", "Initialized"), operations: Self.operations), nil),
      (Self.order(("status", "Reversed"), operations: Self.operations), .refused),
      (Self.order(("remainingCaptureAmount", nil), ("paid", nil), operations: []), nil),
      (Self.order(operations: elsewhere), nil),
      (Self.order(("remainingCaptureAmount", nil), operations: Self.operations), nil),
      (Self.order(("status", nil), operations: Self.operations), nil),
      (Self.order(("id", "/x"), operations: Self.operations), nil), (.null, nil),
    ] as [(JSONValue, CaptureOutcome.Kind?)] {
      switch try Self.read(answer) {
      case .ended(let outcome, let report):
        #expect(outcome.kind == expected)
        #expect((report?.payment?.isCaptured == true) == (expected == .captured))
      case .unclear(let trouble):
        #expect(expected == nil)
        #expect(trouble == .unreadable)
      default: Issue.record("\(answer.text) is no answer to capture")
      }
    }
  }

  @Test func `An answer to the capture decides nothing: the order is looked up`() throws {
    let captures = try Self.captures()
    func read(_ reply: BackendReply) -> CaptureReading {
      captures.readCapture(reply, of: Self.payment, now: Self.now)
    }
    #expect(read(Self.answer(["capture": ["id": "/c"]])) == .accepted)
    #expect(read(Self.answer(Self.paid, status: 201)) == .accepted)
    #expect(read(Self.answer([:])) == .unclear(.unreadable))
    #expect(
      read(.answer(status: 200, contentType: "text/html", body: Array("<p>".utf8)))
        == .unclear(.unreadable))
    #expect(read(Self.answer([:], status: 401)) == .unclear(.credentials))
    for status in [408, 425, 429] {
      if case .unclear = read(Self.answer([:], status: status)) { continue }
      Issue.record("\(status) says nothing about this order")
    }
    for status in [400, 403, 404, 409, 422] {
      #expect(read(Self.answer(Self.problem, status: status)) == .ended(.abandoned, nil))
      if case .unclear = read(Self.answer([:], status: status)) { continue }
      Issue.record("\(status) without a problem is not Swedbank Pay's")
    }
    #expect(read(Self.answer([:], status: 500)) == .unclear(.failed))
    #expect(read(.noAnswer(isTimeout: true)) == .unclear(.timeout))
    #expect(read(.unreachable) == .unclear(.unreachable))
  }

  @Test func `A capture that was forgotten for more than eight days is not sent`() throws {
    let answer = Self.answer(Self.order(operations: Self.operations))
    for (days, isSent) in [(8, true), (9, false)] as [(Int64, Bool)] {
      let reading = try Self.captures().readLookup(answer, of: Self.payment, now: Self.now + .days(days))
      if case .nothingCaptured(.some) = reading { #expect(isSent) } else { #expect(!isSent) }
    }
  }

  @Test func `A refused capture is never sent again, because the fifth refusal locks the payment`() throws {
    let captures = try Self.captures()
    let offered = Self.answer(Self.order(operations: Self.operations))
    let captured = Self.answer(Self.order(("remainingCaptureAmount", 0), operations: []))
    for (found, outcome) in [
      (offered, CaptureOutcome.Kind.abandoned), (captured, .captured),
      (Self.answer(Self.order(("status", "Cancelled"))), .refused),
    ] {
      var run = CaptureRun(beginning: Self.payment, isRepeat: false, by: captures)
      var methods: [String] = []
      var now = Self.now
      var replies = [offered, Self.answer(Self.problem, status: 400), .noAnswer(isTimeout: true)]
      while let step = run.nextStep(by: captures) {
        methods.append(step.call.method)
        _ = run.finish(step, replies.isEmpty ? found : replies.removeFirst(), by: captures, now: now)
        now = max(now, run.dueAt ?? now)
      }
      #expect(methods == ["GET", "POST", "GET", "GET"])
      #expect(run.capture.outcome?.kind == outcome)
    }
  }

  @Test func `A capture looks the order up, captures it, and sees in the order that it is captured`() throws {
    let captures = try Self.captures()
    var run = CaptureRun(beginning: Self.payment, isRepeat: false, by: captures)
    func next(_ reply: BackendReply) throws -> (method: String, progress: CaptureRun.Progress) {
      let step = try #require(run.nextStep(by: captures))
      return (step.call.method, run.finish(step, reply, by: captures, now: Self.now))
    }
    #expect(try next(Self.answer(Self.order(operations: Self.operations))).method == "GET")
    #expect(try next(.noAnswer(isTimeout: true)).method == "POST")
    let captured = try next(Self.answer(Self.order(("remainingCaptureAmount", 0), operations: [])))
    #expect(captured.method == "GET")
    #expect(captured.progress.report?.payment?.isCaptured == true)
    #expect(run.capture.outcome?.kind == .captured)
  }
}
