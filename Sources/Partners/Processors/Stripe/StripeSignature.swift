// Verifies Stripe's webhook signatures. It accepts only what every official Stripe library accepts
// (https://docs.stripe.com/webhooks#verify-manually; stripe-python, -go, -node and -dotnet). Pure; any
// thread.

internal import Cryptography
internal import Domain

/// The content of one `Stripe-Signature` header: `t=1492774577,v1=<64 hex>,v0=…`.
struct StripeSignature {
  /// A header has one `v1` per active secret: two at most, during a rotation.
  static let signaturesMax = 16
  static let headerBytesMax = 8192
  static let timestampDigitsMax = 12

  /// The signed text before the body: the digits of `t` as received, and a dot.
  private(set) var signedHead: [UInt8] = []
  /// Seconds since 1970.
  private(set) var unixSeconds: Int64 = 0
  /// The valid `v1` values: 64 lower-case hexadecimal digits each.
  private(set) var signatures: [AuthenticationCode] = []
  private var signatureCount = 0

  /// Parses a header.
  ///
  /// A bare `t` or `v1`, and a second `t`, are refused: libraries interpret them differently. Other elements
  /// are ignored.
  /// - Returns: nil unless the header has Stripe's format.
  init?(_ header: String) {
    let header = header.utf8.span
    guard header.count <= Self.headerBytesMax else { return nil }
    var start = 0
    while start <= header.count {
      let end = Self.position(of: ",", in: header, from: start)
      guard parse(header.extracting(start..<end)) else { return nil }
      start = end + 1
    }
    if signedHead.isEmpty || signatureCount == 0 { return nil }
  }

  /// - Returns: false when the element makes the header invalid.
  private mutating func parse(_ element: Span<UInt8>) -> Bool {
    let nameEnd = Self.position(of: "=", in: element, from: 0)
    let hasValue = nameEnd < element.count
    let value = element.extracting((hasValue ? nameEnd + 1 : nameEnd)..<element.count)
    if nameEnd == 1, element[0] == UInt8(ascii: "t") {
      return hasValue && signedHead.isEmpty && parseTimestamp(value)
    }
    if nameEnd == 2, element[0] == UInt8(ascii: "v"), element[1] == UInt8(ascii: "1") {
      signatureCount += 1
      guard hasValue, signatureCount <= Self.signaturesMax else { return false }
      if let code = AuthenticationCode(lowercaseHex: value) { signatures.append(code) }
    }
    return true
  }

  /// 1–12 ASCII digits. A leading zero is refused: some libraries sign the parsed number, others the text.
  private mutating func parseTimestamp(_ digits: Span<UInt8>) -> Bool {
    guard (1...Self.timestampDigitsMax).contains(digits.count),
      digits.count == 1 || digits[0] != UInt8(ascii: "0")
    else { return false }
    signedHead.reserveCapacity(digits.count + 1)
    for index in digits.indices {
      let digit = digits[index]
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return false }
      unixSeconds = unixSeconds * 10 + Int64(digit - UInt8(ascii: "0"))
      signedHead.append(digit)
    }
    signedHead.append(UInt8(ascii: "."))
    return true
  }

  private static func position(of mark: Unicode.Scalar, in bytes: Span<UInt8>, from start: Int) -> Int {
    var position = start
    while position < bytes.count, bytes[position] != UInt8(ascii: mark) { position += 1 }
    return position
  }
}

/// Verifies bodies with an endpoint's secrets.
struct StripeSignatureVerifier: Sendable {
  private let keys: [HMACSHA256]
  private let tolerance: Duration

  /// - Parameter secrets: including the prefix `whsec_`; several during a rotation.
  init(secrets: [String], tolerance: Duration) throws(CryptographyError) {
    var keys: [HMACSHA256] = []
    for secret in secrets { keys.append(try HMACSHA256(key: Array(secret.utf8))) }
    self.keys = keys
    self.tolerance = tolerance
  }

  /// Checks the signature before the age, as three of the four libraries do: "stale" then means "was
  /// genuine".
  func verify(headers: [String], body: [UInt8], now: Timestamp) -> Authenticity {
    guard let header = headers.first, !header.isEmpty else { return .refused(.missing) }
    guard headers.count == 1, let signature = StripeSignature(header) else { return .refused(.malformed) }
    var matches = false
    for key in keys {
      let expected = key.authenticationCode(of: signature.signedHead.span, body.span)
      // No early exit: the duration must not depend on which secret or signature matched.
      for candidate in signature.signatures where candidate.isEqual(to: expected) { matches = true }
    }
    guard matches else { return .refused(.mismatch) }
    let age = now.duration(since: Timestamp(unixSeconds: signature.unixSeconds))
    if age > tolerance { return .refused(.stale) }
    // `t` is truncated to whole seconds; the local time is not.
    if age < .zero - tolerance { return .refused(.future) }
    return .genuine
  }
}
