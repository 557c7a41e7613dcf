// Payments that start at the relay: requests of SDKs with the answers of the processors between them, and the
// answers and callbacks without a request.

import Domain
import Formats
import Partners

extension FuzzTarget {
  private static let now = Timestamp(unixMilliseconds: 1_795_168_800_123)
  private static let secret = "secret-of-the-fuzzer"
  private static let base = "https://api.payments.example"
  private static let order = "/psp/paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce"
  private static let paymentToken = "002.ilqqjf2udmu2rp3xcu7cb6mzup6tefwb3d5yk6czrfvjw"

  /// Swedbank Pay with everything allowed, and Afterpay.
  private static func processors() throws -> [any PaymentProcessor] {
    let allow = SwedbankSettings.Allowed(
      patch: true, expand: true, expandTokens: false, tokens: true, payerTokens: true, usePaymentToken: true)
    let swedbank = try SwedbankProcessor(
      SwedbankSettings(
        apiBase: base, payeeID: "payee", publicOrigin: "https://pay.example.com", allow: allow),
      app: "ios", merchantToken: secret, isSender: { _ in true })
    guard let region = AfterpayRegion("US"), let dollars = Currency("USD") else { return [swedbank] }
    let settings = AfterpaySettings(
      apiBase: base, merchantID: "merchant", region: region, currency: dollars,
      confirmURL: "https://shop.example/ok", cancelURL: "https://shop.example/no",
      prices: ["gold": Money(minorUnits: 5999, dollars)], amountsAreClients: true)
    return [swedbank, AfterpayProcessor(settings, secret: secret)]
  }

  private static func key(_ processor: any PaymentProcessor) -> PurchaseKey {
    let isAfterpay = processor is AfterpayProcessor
    return PurchaseKey(
      processor: type(of: processor).name,
      type: PurchaseKey.ObjectType(isAfterpay ? "payment" : "payment_order"),
      id: ObjectID(isAfterpay ? paymentToken : order))
  }

  /// `ENDPOINT PARAMETER`, a NUL, the body of the request, a NUL, then the processor's answers, each
  /// `STATUS TYPE`, a line's end, its body and a NUL. The endpoint is a number.
  static let backend = FuzzTarget("backend", bytesMax: 16_384) { bytes in
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
    let head = halves(parts[0], at: UInt8(ascii: " "))
    let all = try processors().flatMap { processor in
      type(of: processor).backendEndpoints.map { (processor, $0) }
    }
    let number = Int(clamping: Int64(String(decoding: head.first, as: UTF8.self)) ?? 0)
    let (processor, endpoint) = all[Int(number.magnitude % UInt(all.count))]
    let parameter = String(decoding: head.rest, as: UTF8.self)
    let names = endpoint.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
      String($0.dropFirst().dropLast())
    }
    guard let backend = processor.backend else { return }
    let step = backend.respond(
      to: BackendRequest(
        endpoint, parameters: Dictionary(uniqueKeysWithValues: names.map { ($0, parameter) }),
        body: parts.dropFirst().first ?? [], contentType: "application/json", user: "u1",
        rootPath: "/v1/ios/\(type(of: processor).name)/", reference: "R1", receivedAt: now))
    let replies = parts.dropFirst(2).map(reply)
    try follow(step, replies[...], of: processor)
  }

  private static func reply(_ bytes: [UInt8]) -> BackendReply {
    let (line, body) = halves(bytes, at: UInt8(ascii: "\n"))
    let (status, type) = halves(line, at: UInt8(ascii: " "))
    switch Int(String(decoding: status, as: UTF8.self)) {
    case nil: return .noAnswer(isTimeout: status.isEmpty)
    case 0: return .unreachable
    case .some(let status):
      return .answer(
        status: 200 + Int(status.magnitude % 400), contentType: String(decoding: type, as: UTF8.self),
        body: body)
    }
  }

  /// Carries out the steps, with one payment and one customer of the user.
  private static func follow(
    _ first: BackendStep, _ script: ArraySlice<BackendReply>, of processor: any PaymentProcessor
  ) throws {
    let key = key(processor)
    var (step, replies) = (first, script)
    for _ in 0..<64 {
      switch step {
      case .answer(let answer): return try check(answer)
      case .capture(let order): return try hold(order.key == key, "a capture of an unknown payment")
      case .findContext(_, _, let then): step = then(true)
      case .findPayment(let wanted, _, let then):
        step = then(
          wanted == key
            ? StartedPayment(
              key: key, facts: PaymentFacts(amount: "59.99", currency: "USD"), observations: .started,
              startedAt: now) : nil)
      case .findCustomer(_, _, let then), .acquireCustomer(_, _, let then): step = then(true)
      case .call(let call, let then), .cached(let call, let then):
        try check(call)
        step = then(replies.popFirst() ?? .unreachable)
      case .findCached(_, let then): step = then(nil)
      case .store(let report, let then):
        try check(report)
        step = then()
      }
    }
    throw FuzzFinding(description: "it comes to no end")
  }

  private static func check(_ answer: BackendAnswer) throws {
    try hold((200...599).contains(answer.status), "a status of \(answer.status)")
    try hold(!answer.contentType.isEmpty, "no media type")
    let text = String(decoding: answer.completed(requestID: "req_1").body, as: UTF8.self)
    try hold(!text.contains(secret), "the secret is in the answer (R7)")
    if answer.status >= 400 {
      let problem = try? JSONValue(parsing: answer.body)
      try hold(problem?["status"] != nil, "a problem without a status")
    }
  }

  private static func check(_ call: BackendCall) throws {
    try hold(["GET", "POST", "PATCH"].contains(call.method), "a call with \(call.method)")
    let url = call.url(at: base)
    try hold(url.hasPrefix(base + "/"), "a call to \(url)")
    try hold(url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a URL with other characters: \(url)")
    let isPlain = call.headers.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    try hold(isPlain, "a field of two lines")
  }

  private static func check(_ report: PurchaseReport) throws {
    try checkIdentifier(report.key.id.text)
    try checkIdentifier(report.customerID?.text)
    for price in report.prices { try checkIdentifier(price.text) }
    for text in [report.payment?.amount, report.payment?.currency, report.payment?.reference] {
      try checkIdentifier(text)
    }
  }

  private static func checkIdentifier(_ text: String?) throws {
    guard let text else { return }
    try hold(UntrustedText.identifier(text) == text, "not fit for a row: \(text)")
  }

  /// A processor's answer to a lookup and to a capture, and a callback.
  static let processorAnswer = FuzzTarget("processor-answer", bytesMax: 16_384) { bytes in
    for processor in try processors() {
      let key = key(processor)
      if let report = processor.queries?.report(from: bytes, about: key, now: now) {
        try hold(report.key == key, "a report about another purchase")
        try check(report)
      }
      if case .fetchFirst(let key, _, let isWorthKeeping) = processor.read(bytes, now: now).content {
        try checkIdentifier(key.id.text)
        try hold(!isWorthKeeping, "anybody can make the relay ask for any payment")
        for query in processor.queries?.lookups(of: key, sessionID: nil, lacking: nil) ?? [] {
          try hold(query.url(at: base).hasPrefix(base + "/"), "a query for \(query.target)")
        }
      }
      guard let captures = processor.captures else { continue }
      for status in [200, 201, 302, 402, 404, 409, 412, 422, 500] {
        try capture(bytes, status, key, captures)
      }
    }
  }

  /// No answer makes a second call for a payment that may have been captured, except after a lookup.
  private static func capture(
    _ bytes: [UInt8], _ status: Int, _ key: PurchaseKey, _ captures: any PaymentCaptures
  ) throws {
    let payment = CapturablePayment(key: key, facts: PaymentFacts(), startedAt: now, orderedAt: now)
    let reply = BackendReply.answer(status: status, contentType: "application/json", body: bytes)
    var run = CaptureRun(beginning: payment, isRepeat: false, by: captures)
    var time = now
    var wasSent = false
    for _ in 0..<6 {
      guard let step = run.nextStep(by: captures) else { break }
      try check(step.call)
      if case .send = step {
        try hold(!wasSent, "it is sent again without a lookup")
        wasSent = true
      } else {
        wasSent = false
      }
      _ = run.finish(step, reply, by: captures, now: time)
      try hold(run.capture.contradiction == nil, run.capture.contradiction ?? "")
      time = max(time, run.dueAt ?? time)
    }
    if let outcome = run.capture.outcome { try check(BackendAnswer(outcome)) }
  }
}
