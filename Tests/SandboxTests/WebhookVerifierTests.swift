// The receiver's verification of webhooks, with the example of the specification's authors.

import Formats
import Sandbox
import Testing

@Suite("Verification of webhooks") struct WebhookVerifierTests {
  // https://docs.svix.com/receiving/verifying-payloads/how-manual
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
  private static let time: Int64 = 1_614_265_330
  private static let body = Array(#"{"test": 2432232314}"#.utf8)
  private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  private static let other = "whsec_\(Base64.encode(Array("another secret of 24 byte".utf8)))"

  private static func verdict(
    secrets: [String] = [secret], id: String? = id, time: String? = String(time),
    signature: String? = signature, body: [UInt8] = body, now: Int64 = time * 1000
  ) throws -> WebhookVerdict {
    try WebhookVerifier(secrets: secrets).verify(
      WebhookVerifier.Headers(id: id, timestamp: time, signature: signature), body: body, now: now)
  }

  @Test func `The published example is genuine`() throws {
    #expect(try Self.verdict() == .verified(secret: 0))
    #expect(try Self.verdict(secrets: [Self.other, Self.secret]) == .verified(secret: 1))
    #expect(try Self.verdict(secrets: [Self.other]) == .mismatch)
    #expect(try Self.verdict(secrets: []) == .unverified)
  }

  @Test func `Every signed part counts`() throws {
    #expect(try Self.verdict(id: "msg_other") == .mismatch)
    #expect(try Self.verdict(time: String(Self.time + 1)) == .mismatch)
    #expect(try Self.verdict(body: Self.body + [0x20]) == .mismatch)
  }

  @Test func `One of several signatures suffices, and other versions are ignored`() throws {
    let wrong = "v1,\(Base64.encode(Array(repeating: 7, count: 32)))"
    #expect(try Self.verdict(signature: "\(wrong) \(Self.signature)") == .verified(secret: 0))
    #expect(try Self.verdict(signature: "v1a,abcd \(Self.signature)") == .verified(secret: 0))
    #expect(try Self.verdict(signature: wrong) == .mismatch)
    #expect(try Self.verdict(signature: "v1a,abcd") == .malformed(header: "webhook-signature"))
    let later = Self.signature.replacing("v1,", with: "v2,")
    #expect(try Self.verdict(signature: later) == .malformed(header: "webhook-signature"))
  }

  @Test func `The clock may differ by five minutes, in both directions`() throws {
    let now = Self.time * 1000
    #expect(try Self.verdict(now: now + 300_000) == .verified(secret: 0))
    #expect(try Self.verdict(now: now - 300_000) == .verified(secret: 0))
    #expect(try Self.verdict(now: now + 300_001) == .stale(age: .milliseconds(300_001)))
    #expect(try Self.verdict(now: now - 300_001) == .stale(age: .milliseconds(-300_001)))
  }

  @Test func `A missing or malformed header is named`() throws {
    #expect(try Self.verdict(id: nil) == .missing(header: "webhook-id"))
    #expect(try Self.verdict(time: nil) == .missing(header: "webhook-timestamp"))
    #expect(try Self.verdict(signature: nil) == .missing(header: "webhook-signature"))
    #expect(try Self.verdict(id: "a.b") == .malformed(header: "webhook-id"))
    for time in ["1.5", "-1", "+1", "01", "9223372036854775807", "soon"] {
      #expect(try Self.verdict(time: time) == .malformed(header: "webhook-timestamp"), "\(time)")
    }
  }

  @Test(arguments: ["", "whsec_", "whsec_!", "abcd", "whsec_abc"])
  func `A secret is whsec_ and base64`(_ secret: String) {
    #expect(throws: WebhookVerifier.BadSecret.self) { try WebhookVerifier(secrets: [Self.secret, secret]) }
  }
}
