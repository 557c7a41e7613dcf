// The simulated receiver of webhooks over real connections. The signatures are computed here, from the
// specification.

import Cryptography
import Formats
import HTTPClient
import Platform
import Sandbox
import Testing

@Suite("The simulated receiver of webhooks") struct SandboxWebhookTests {
  private static let key = Array("0123456789abcdef01234567".utf8)
  private static let secret = "whsec_\(Base64.encode(key))"
  private static let now: Int64 = 1_800_000_000_000

  private struct FixedClock: Clock {
    var wallMilliseconds: Int64 { SandboxWebhookTests.now }
    var monotonic: MonotonicInstant { .now() }
  }

  private static func message(_ type: String = "purchase.completed", amount: JSONValue = "59.99") -> JSONValue
  {
    [
      "type": .string(type), "timestamp": "2027-01-15T08:00:00.000Z",
      "data": [
        "app": "ios", "user_id": "jane", "processor": "swedbank", "object_type": "payment_order",
        "object_id": "/psp/paymentorders/1", "price_id": "gold", "amount": amount, "currency": "SEK",
        "ply_context": "e30=", "context_id": "ctx_1",
      ],
    ]
  }

  private final class Rig {
    let webhook: SandboxWebhook
    let receipts = Monitor<[SandboxWebhookReceipt]>([])

    init(_ secrets: [String] = [secret], _ behaviour: SandboxBehaviour = SandboxBehaviour()) throws {
      let receipts = receipts
      webhook = try SandboxWebhook(
        verifier: WebhookVerifier(secrets: secrets), behaviour: behaviour, clock: FixedClock()
      ) { receipt in receipts.update { $0.append(receipt) } }
    }

    @discardableResult func send(
      _ body: JSONValue, id: String = "rcp_1", key: [UInt8] = SandboxWebhookTests.key
    ) throws -> Int? {
      let time = String(SandboxWebhookTests.now / 1000)
      let code = try HMACSHA256(key: key).authenticationCode(
        for: Array("\(id).\(time).".utf8), body.serialized())
      let headers = [
        ("webhook-id", id), ("webhook-timestamp", time), ("webhook-signature", "v1,\(Base64.encode(code))"),
      ]
      return try SandboxCaller(webhook.url, headers).send(.post, "", body).status
    }

    var last: SandboxWebhookReceipt? { receipts.withLock { $0.last } }
  }

  @Test func `A genuine webhook is accepted and read`() throws {
    let rig = try Rig()
    #expect(try rig.send(Self.message()) == 200)
    let receipt = try #require(rig.last)
    #expect(receipt.verdict == .verified(secret: 0))
    #expect(receipt.isNew)
    let message = try #require(receipt.message)
    #expect(message.type == "purchase.completed")
    #expect(message.app == "ios")
    #expect(message.user == "jane")
    #expect(message.processor == "swedbank")
    #expect(message.objectType == "payment_order")
    #expect(message.objectID == "/psp/paymentorders/1")
    #expect(message.amount == "59.99")
    #expect(message.currency == "SEK")
    #expect(message.context == "e30=")
    #expect(message.contextID == "ctx_1")
  }

  @Test func `Another signature is refused, and its id does not count as seen`() throws {
    let rig = try Rig()
    #expect(try rig.send(Self.message(), key: Array("other".utf8)) == 401)
    #expect(rig.last?.verdict == .mismatch)
    #expect(rig.last?.message == nil)
    try rig.send(Self.message())
    #expect(rig.last?.repetition == .first)
  }

  @Test func `A repeated id is marked, also when the body differs`() throws {
    let rig = try Rig()
    try rig.send(Self.message())
    try rig.send(Self.message())
    #expect(rig.last?.repetition == .same(count: 2))
    #expect(rig.last?.isNew == false)
    try rig.send(Self.message("purchase.reversed"))
    #expect(rig.last?.repetition == .different(count: 3))
    try rig.send(Self.message("purchase.reversed"), id: "rcp_1-reversed")
    #expect(rig.last?.repetition == .first)
  }

  @Test func `A genuine webhook whose body is not as documented is refused with the reason`() throws {
    let rig = try Rig()
    #expect(try rig.send(Self.message(amount: .number(59.99))) == 422)
    #expect(rig.last?.fault == "amount is not a text")
    #expect(try rig.send(Self.message(amount: "59,99"), id: "rcp_2") == 422)
    #expect(try rig.send(["type": "purchase.completed"], id: "rcp_3") == 422)
    #expect(try rig.send([1], id: "rcp_4") == 422)
    #expect(rig.last?.fault == "the body is not a JSON object")
  }

  @Test func `Without secrets everything is accepted, and marked as not verified`() throws {
    let rig = try Rig([])
    #expect(try rig.send(Self.message()) == 200)
    #expect(rig.last?.verdict == .unverified)
    #expect(rig.last?.message?.user == "jane")
  }

  @Test func `It can be made to fail and to succeed again, and only takes posts`() throws {
    let rig = try Rig([Self.secret], SandboxBehaviour(status: 410))
    #expect(try rig.send(Self.message()) == 410)
    rig.webhook.behaviour = SandboxBehaviour(failRate: 1)
    #expect(try rig.send(Self.message()) == 503)
    rig.webhook.behaviour = SandboxBehaviour()
    #expect(try rig.send(Self.message()) == 200)
    #expect(rig.last?.repetition == .same(count: 3))
    #expect(try SandboxCaller(rig.webhook.url, []).send(.get, "").status == 405)
  }
}
