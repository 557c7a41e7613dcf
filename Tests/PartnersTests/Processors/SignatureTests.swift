// Which signatures are genuine: only those that every official Stripe library accepts (R6).

import Cryptography
import Domain
import Partners
import Testing

private let secret = "whsec_relay"
private let body = Array("{\n  \"id\": \"evt_relay\",\n  \"object\": \"event\"\n}".utf8)
private let seconds: Int64 = 1_700_000_000
private let now = Timestamp(unixSeconds: seconds)

private func code(_ t: String = "1700000000", secret: String = secret, body: [UInt8] = body) throws -> String
{
  Hex.encode(try HMACSHA256(key: Array(secret.utf8)).authenticationCode(for: Array("\(t).".utf8), body))
}

private func verify(
  _ headers: [String], body: [UInt8] = body, secrets: [String] = [secret],
  tolerance: Duration = .seconds(300),
  now: Timestamp = now
) throws -> Authenticity {
  let settings = StripeSettings(tolerance: tolerance)
  return try StripeProcessor(settings, webhookSecrets: secrets).authenticate(
    WebhookRequest(body: body, address: "") { $0 == "Stripe-Signature" ? headers : [] }, now: now)
}

/// A header with `GOOD` for a correct signature and `BAD` for a well-formed wrong one, and the expected
/// result.
private struct Row: Sendable, CustomTestStringConvertible {
  var header: String
  var verification: Authenticity

  init(_ header: String, _ verification: Authenticity) {
    self.header = header
    self.verification = verification
  }

  var testDescription: String { header }
}

private let sixteenBad = Array(repeating: "v1=BAD", count: 16).joined(separator: ",")
private let fifteenBad = Array(repeating: "v1=BAD", count: 15).joined(separator: ",")

private let rows: [Row] = [
  // Headers that Stripe sends, and that every library accepts.
  Row("t=1700000000,v1=GOOD", .genuine),
  Row("v1=GOOD,t=1700000000", .genuine),
  Row("t=1700000000,v1=GOOD,v0=BAD", .genuine),
  Row("t=1700000000,v1=BAD,v1=GOOD", .genuine),
  Row("t=1700000000,v1=GOOD,v1=potato", .genuine),
  Row("t=1700000000,v1=potato,v1=GOOD", .genuine),
  Row("t=1700000000,v1=,v1=GOOD", .genuine),
  Row("t=1700000000,v1=GOOD,v1=é", .genuine),
  Row("t=1700000000,v1=GOOD,", .genuine),
  Row(",t=1700000000,,v1=GOOD,,", .genuine),
  Row("t=1700000000,v1=GOOD,flag", .genuine),
  Row("t=1700000000,v1=GOOD,v2=GOOD,x=y=z", .genuine),
  Row("t=1700000000,\(fifteenBad),v1=GOOD", .genuine),

  // No signature can match.
  Row("t=1700000000,v1=BAD", .refused(.mismatch)),
  Row("t=1700000000,v1=BAD,v1=BAD", .refused(.mismatch)),
  Row("t=1700000000,v1=", .refused(.mismatch)),
  Row("t=1700000000,v1=UPPER", .refused(.mismatch)),
  Row("t=1700000000,v1=GOOD0", .refused(.mismatch)),
  Row("t=1700000000,v1=0GOOD", .refused(.mismatch)),
  Row("t=1700000000,v1= GOOD", .refused(.mismatch)),
  Row("t=1700000000,v1=GOOD ", .refused(.mismatch)),
  Row("t=1700000000,v1=\"GOOD\"", .refused(.mismatch)),
  Row("t=1700000000,v1=GOOD=x", .refused(.mismatch)),
  Row("t=1700000000,v1=é", .refused(.mismatch)),
  Row("t=1700000001,v1=GOOD", .refused(.mismatch)),
  Row("t=1,v1=GOOD", .refused(.mismatch)),
  Row("t=999999999999,v1=GOOD", .refused(.mismatch)),

  // Not in Stripe's format, or in one that libraries interpret differently.
  Row("v1=GOOD", .refused(.malformed)),
  Row("t=1700000000", .refused(.malformed)),
  Row("t=1700000000,v0=GOOD", .refused(.malformed)),
  Row("t=1700000000, v1=GOOD", .refused(.malformed)),
  Row("t=1700000000,V1=GOOD", .refused(.malformed)),
  Row("T=1700000000,v1=GOOD", .refused(.malformed)),
  Row("t,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000,t,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000,v1", .refused(.malformed)),
  Row("t=1700000000,v1=GOOD,v1", .refused(.malformed)),
  Row("t=1700000000,t=1700000000,v1=GOOD", .refused(.malformed)),
  Row("t=,v1=GOOD", .refused(.malformed)),
  Row("t=,t=1700000000,v1=GOOD", .refused(.malformed)),
  Row("t=01700000000,v1=GOOD", .refused(.malformed)),
  Row("t=00,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000000,v1=GOOD", .refused(.malformed)),
  Row("t= 1700000000,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000 ,v1=GOOD", .refused(.malformed)),
  Row("t=+1700000000,v1=GOOD", .refused(.malformed)),
  Row("t=-1700000000,v1=GOOD", .refused(.malformed)),
  Row("t=1_700_000_000,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000.0,v1=GOOD", .refused(.malformed)),
  Row("t=17e8,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000x,v1=GOOD", .refused(.malformed)),
  Row("t=١٧٠٠٠٠٠٠٠٠,v1=GOOD", .refused(.malformed)),
  Row("t=１７０００００,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000=1,v1=GOOD", .refused(.malformed)),
  Row("t=1700000000,\(sixteenBad),v1=GOOD", .refused(.malformed)),
  Row("t=1700000000;v1=GOOD", .refused(.malformed)),
  Row("Stripe-Signature: t=1700000000,v1=GOOD", .refused(.malformed)),
  Row("bad_header", .refused(.malformed)),
  Row(",,", .refused(.malformed)),
  Row("t,,", .refused(.malformed)),
  Row(" ", .refused(.malformed)),
  Row("\0", .refused(.malformed)),
  Row("t=1700000000,v1=GOOD,x=" + String(repeating: "x", count: 8192), .refused(.malformed)),
  Row("", .refused(.missing)),
]

@Suite("Signatures of Stripe")
struct SignatureTests {
  @Test("A signature is accepted exactly if every official library accepts it (R6)", arguments: rows)
  private func table(row: Row) throws {
    let good = try code()
    let header = row.header.replacing("GOOD", with: good).replacing("UPPER", with: good.uppercased())
      .replacing("BAD", with: String(repeating: "0a", count: 32))
    #expect(try verify([header]) == row.verification)
  }

  @Test func `The code is HMAC-SHA256 of time, full stop and body under the whole secret`() throws {
    let v1 = "1b7d60f930fa0ee8a9ba0199d06fbe78abd0ba7407da37fcd2f3fcc3083f9546"
    #expect(try code() == v1)
    #expect(try verify(["t=1700000000,v1=\(v1)"]) == .genuine)
  }

  @Test func `Without a header the signature is missing; with several it is malformed`() throws {
    let good = "t=1700000000,v1=\(try code())"
    #expect(try verify([]) == .refused(.missing))
    #expect(try verify([""]) == .refused(.missing))
    #expect(try verify([good, good]) == .refused(.malformed))
    #expect(try verify(["", good]) == .refused(.missing))
  }

  @Test func `Any configured secret is valid during a rotation, and no other`() throws {
    let headers = try ["old", "new", "third"].map { "t=1700000000,v1=\(try code(secret: "whsec_\($0)"))" }
    let secrets = ["whsec_old", "whsec_new"]
    #expect(try verify([headers[0]], secrets: secrets) == .genuine)
    #expect(try verify([headers[1]], secrets: secrets) == .genuine)
    #expect(try verify([headers[2]], secrets: secrets) == .refused(.mismatch))
    #expect(try verify([headers[0]], secrets: []) == .refused(.mismatch))
    let both = "\(headers[2]),v1=\(try code(secret: "whsec_new"))"
    #expect(try verify([both], secrets: secrets) == .genuine)
  }

  @Test("The whole secret is the key: without its prefix, with a blank or in part it is another")
  func wholeSecret() throws {
    for other in ["relay", "whsec_relay\n", " whsec_relay", "whsec_rela", "WHSEC_RELAY"] {
      let header = "t=1700000000,v1=\(try code(secret: other))"
      #expect(try verify([header]) == .refused(.mismatch), "\(other)")
    }
  }

  @Test func `Every altered body is refused (R6)`() throws {
    let header = "t=1700000000,v1=\(try code())"
    for position in body.indices {
      var altered = body
      altered[position] ^= 1
      #expect(try verify([header], body: altered) == .refused(.mismatch), "byte \(position)")
    }
    #expect(try verify([header], body: body + [UInt8(ascii: "\n")]) == .refused(.mismatch))
    #expect(try verify([header], body: [0xEF, 0xBB, 0xBF] + body) == .refused(.mismatch))
    #expect(try verify([header], body: body.dropLast()) == .refused(.mismatch))
    #expect(try verify([header], body: []) == .refused(.mismatch))
  }

  @Test func `Bodies of any bytes can be genuine: none, no UTF-8, large`() throws {
    for odd in [[], [0xFF, 0x00, 0xFE], [UInt8](repeating: 0x7B, count: 3_000_000)] as [[UInt8]] {
      #expect(try verify(["t=1700000000,v1=\(try code(body: odd))"], body: odd) == .genuine)
    }
  }

  @Test func `The signed time is the header's own spelling`() throws {
    let seconds: [(String, Int64)] = [("0", 0), ("9", 9), ("999999999999", 999_999_999_999)]
    for (text, value) in seconds {
      let header = "t=\(text),v1=\(try code(text))"
      #expect(try verify([header], now: Timestamp(unixSeconds: value)) == .genuine)
    }
    let padded = "t=1700000000,v1=\(try code("01700000000"))"
    #expect(try verify([padded]) == .refused(.mismatch))
  }

  @Test func `Old and future signatures are genuine up to the tolerance and no further (R6)`() throws {
    let header = "t=1700000000,v1=\(try code())"
    let rows: [(Int64, Authenticity)] = [
      (0, .genuine), (300_000, .genuine), (300_001, .refused(.stale)), (86_400_000, .refused(.stale)),
      (-300_000, .genuine), (-300_001, .refused(.future)), (-86_400_000, .refused(.future)),
    ]
    for (age, expected) in rows {
      let moment = now.advanced(by: .milliseconds(age))
      #expect(try verify([header], now: moment) == expected, "\(age) ms old")
    }
    #expect(
      try verify([header], tolerance: .seconds(1), now: now.advanced(by: .milliseconds(1001)))
        == .refused(.stale))
    let last = "t=999999999999,v1=\(try code("999999999999"))"
    #expect(try verify([last]) == .refused(.future))
  }

  @Test func `A forged signature is a mismatch at any claimed age`() throws {
    let forged = "t=1600000000,v1=\(String(repeating: "0a", count: 32))"
    #expect(try verify([forged]) == .refused(.mismatch))
  }

  @Test(arguments: [Int64.min, Int64.max])
  func `A clock at the end of time refuses and does not trap`(milliseconds: Int64) throws {
    let header = "t=1700000000,v1=\(try code())"
    let refused: Authenticity = milliseconds < 0 ? .refused(.future) : .refused(.stale)
    #expect(try verify([header], now: Timestamp(unixMilliseconds: milliseconds)) == refused)
  }
}
