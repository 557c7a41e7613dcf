// Stripe's webhook signatures. Accepted is what every official Stripe library accepts, and nothing that only
// some do (https://docs.stripe.com/webhooks#verify-manually; stripe-python, -go, -node and -dotnet). Pure;
// any thread.

internal import Cryptography
internal import Domain

/// The content of one `Stripe-Signature` header: `t=1492774577,v1=<64 hex>,v0=…`.
struct StripeSignature: Equatable {
  /// A header has one `v1` per secret that is in force, which are two at most while one is being rotated.
  static let signaturesMax = 16
  static let headerBytesMax = 8192
  static let timestampDigitsMax = 12

  /// The bytes of `t` as they stand: they are part of what is signed.
  let timestamp: [UInt8]
  /// Seconds since 1970.
  let unixSeconds: Int64
  /// The `v1` values that have the form of one: 64 lower-case hexadecimal digits.
  let signatures: [[UInt8]]

  /// Reads a header.
  ///
  /// A bare `t` or `v1`, and a second `t`, are refused: libraries disagree on what they mean. Other elements
  /// are ignored.
  /// - Returns: nil when it is not of the form that Stripe sends.
  init?(_ header: String) {
    guard header.utf8.count <= Self.headerBytesMax else { return nil }
    var timestamp: [UInt8]?
    var signatures: [[UInt8]] = []
    var signatureCount = 0
    for element in Array(header.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let parts = element.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts.first.map(Array.init) ?? []
      if name == Array("t".utf8) {
        guard parts.count == 2, timestamp == nil else { return nil }
        timestamp = Array(parts[1])
      } else if name == Array("v1".utf8) {
        signatureCount += 1
        guard parts.count == 2, signatureCount <= Self.signaturesMax else { return nil }
        if parts[1].count == 2 * HMACSHA256.codeSize, let code = Hex.decodeLowercase(parts[1]) {
          signatures.append(code)
        }
      }
    }
    guard let timestamp, let seconds = Self.seconds(timestamp), signatureCount > 0 else { return nil }
    self.timestamp = timestamp
    self.unixSeconds = seconds
    self.signatures = signatures
  }

  /// 1–12 ASCII digits. A leading zero is refused: some libraries sign the number as they print it, others
  /// the text.
  private static func seconds(_ digits: [UInt8]) -> Int64? {
    guard (1...timestampDigitsMax).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0")
    else { return nil }
    var seconds: Int64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      seconds = seconds * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return seconds
  }
}

/// Checks bodies against an endpoint's secrets.
struct StripeSignatureVerifier: Sendable {
  private let keys: [HMACSHA256]
  private let toleranceMilliseconds: Int64

  /// - Parameter secrets: whole, with their `whsec_`; several while one is being rotated.
  init(secrets: [String], toleranceMilliseconds: Int64) throws(CryptographyError) {
    var keys: [HMACSHA256] = []
    for secret in secrets { keys.append(try HMACSHA256(key: Array(secret.utf8))) }
    self.keys = keys
    self.toleranceMilliseconds = toleranceMilliseconds
  }

  /// The signature is checked before the age, as in three of the four libraries: "stale" then means "once
  /// genuine".
  func verify(headers: [String], body: [UInt8], now: Timestamp) -> Verification {
    guard let header = headers.first, !header.isEmpty else { return .refused(.missing) }
    guard headers.count == 1, let signature = StripeSignature(header) else { return .refused(.malformed) }
    var matches = false
    for key in keys {
      let expected = key.authenticationCode(for: signature.timestamp, [UInt8(ascii: ".")], body)
      // No early exit: the time taken says nothing about which secret or signature matched.
      for candidate in signature.signatures where constantTimeEqual(candidate, expected) { matches = true }
    }
    guard matches else { return .refused(.mismatch) }
    let age = now.milliseconds(since: Timestamp(unixSeconds: signature.unixSeconds))
    if age > toleranceMilliseconds { return .refused(.stale) }
    // `t` is in whole seconds, cut off; ours is not.
    if age < -toleranceMilliseconds { return .refused(.future) }
    return .genuine
  }
}
