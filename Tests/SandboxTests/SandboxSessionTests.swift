// The simulated Stripe API makes Checkout Sessions over real connections, and refuses what Stripe refuses.

import Formats
import HTTPClient
import Sandbox
import Testing

@Suite("Checkout Sessions of the sandbox") struct SandboxSessionTests {
  private static let good = [
    "mode": "subscription", "line_items[0][price]": "price_r", "line_items[0][quantity]": "1",
    "success_url": "https://a.test/", "client_reference_id": "ctx_1", "metadata[ply_context_id]": "ctx_1",
    "subscription_data[metadata][ply_context_id]": "ctx_1",
  ]

  private static func stripe() throws -> SandboxStripe {
    var records = StripeRecords()
    records.add(object: ["id": "price_r", "object": "price", "type": "recurring"])
    records.add(object: ["id": "price_o", "object": "price", "type": "one_time"])
    return try SandboxStripe(records: records)
  }

  private static func post(
    _ stripe: SandboxStripe, _ fields: [String: String], key: String? = nil, apiKey: String = "sk_test_1"
  ) throws -> (status: Int?, json: JSONValue?, isReplayed: Bool) {
    let pool = try TransferPool(connectionsMax: 1)
    var headers = [
      TransferHeader("Authorization", "Bearer \(apiKey)"),
      TransferHeader("Content-Type", "application/x-www-form-urlencoded"),
    ]
    if let key { headers.append(TransferHeader("Idempotency-Key", key)) }
    let body = fields.sorted { $0.key < $1.key }
      .map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    let result = try pool.answer(
      to: TransferRequest(
        method: .post, url: stripe.base + "/v1/checkout/sessions", headers: headers, body: Array(body.utf8),
        answerBytesMax: 1 << 20))
    return (result.status, result.json, result.header("Idempotent-Replayed") == "true")
  }

  @Test func `A key makes one session, and is refused with other parameters`() throws {
    let stripe = try Self.stripe()
    defer { stripe.stop() }
    let first = try Self.post(stripe, Self.good, key: "k1")
    #expect(first.status == 200)
    #expect(first.json?["object"] == "checkout.session")
    #expect(first.json?["client_reference_id"] == "ctx_1")
    #expect(first.json?["metadata"] == ["ply_context_id": "ctx_1"])
    #expect(first.json?["url"]?.stringValue?.hasPrefix("https://checkout.stripe.com/") == true)
    #expect(!first.isReplayed)
    let second = try Self.post(stripe, Self.good, key: "k1")
    #expect(second.isReplayed)
    #expect(second.json == first.json)
    #expect(stripe.records.sessions.count == 1)
    let other = try Self.post(stripe, Self.good.merging(["success_url": "https://b.test/"]) { $1 }, key: "k1")
    #expect(other.status == 400)
    #expect(other.json?["error"]?["type"] == "idempotency_error")
    #expect(try Self.post(stripe, Self.good, key: "k2").json?["id"] != first.json?["id"])
    #expect(stripe.records.sessions.count == 2)
  }

  @Test(arguments: [
    (["mode": "rent"], "mode"), (["success_url": "a"], "success_url"),
    (["line_items[0][quantity]": "0"], "line_items[0][quantity]"),
    (["line_items[0][price]": "price_x"], "line_items[0][price]"),
    (["line_items[0][price]": "price_o"], "line_items[0][price]"),
    (["payment_intent_data[metadata][a]": "b"], "payment_intent_data"),
    (["client_reference_id": String(repeating: "a", count: 201)], "client_reference_id"),
  ])
  func `An invalid parameter is named`(change: [String: String], parameter: String) throws {
    let stripe = try Self.stripe()
    defer { stripe.stop() }
    let answer = try Self.post(stripe, Self.good.merging(change) { $1 }, key: "k1")
    #expect(answer.status == 400)
    #expect(answer.json?["error"]?["param"] == .string(parameter))
    #expect(stripe.records.sessions.isEmpty)
    // A refusal uses up no key.
    #expect(try Self.post(stripe, Self.good, key: "k1").status == 200)
  }

  @Test func `A key without the right, and a wrong one, are refused`() throws {
    let stripe = try Self.stripe()
    defer { stripe.stop() }
    stripe.behaviour.makesSessions = false
    #expect(try Self.post(stripe, Self.good).status == 403)
    stripe.behaviour = SandboxStripeBehaviour(apiKey: "rk_right")
    #expect(try Self.post(stripe, Self.good).status == 401)
    #expect(try Self.post(stripe, Self.good, apiKey: "rk_right").status == 200)
  }
}
