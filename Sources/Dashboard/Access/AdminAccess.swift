// Who may come in at the admin listener: a password (HTTP Basic, RFC 7617), compared in constant time and not
// for ever; and no web page that a browser on this machine happens to look at. libmicrohttpd's threads.

public import Configuration
public import Cryptography
internal import Domain
internal import FoundationEssentials
public import HTTPServer
public import HTTPService
public import Platform

/// The guard of the admin listener.
public struct AdminAccess: Sendable {
  /// Nil where nobody is asked.
  private let passwordDigest: [UInt8]?
  /// Whether anyone gets in who can open a connection over TCP from this machine.
  private let trustsMachine: Bool
  private let failures: FailedLogins
  private let logins = KnownAddresses()

  /// - Throws: `Fault` when the password could not be read.
  public init(_ admin: Configuration.Admin, clock: any Clock) throws(Fault) {
    passwordDigest = try admin.password.map { password throws(Fault) in
      SHA256.digest(Array(try password.reveal().utf8))
    }
    trustsMachine = admin.password == nil && admin.socketPath == nil
    failures = FailedLogins(clock: clock)
  }

  /// Who asks, for the audit: `dashboard anna (127.0.0.1)`; or why they may not.
  public func visitor(_ head: RequestHead) -> Result<String, Problem> {
    if trustsMachine, !Self.isLocalHost(head.header("Host")) { return .failure(.misdirected) }
    guard let passwordDigest else { return .success("dashboard (\(head.remoteAddress))") }
    let address = Self.group(head.remoteAddress)
    guard let (user, password) = Self.credentials(head.header("Authorization")) else {
      return .failure(.passwordNeeded)
    }
    // Digests, so that the length is no secret either.
    let isRight = constantTimeEqual(SHA256.digest(password), passwordDigest)
    // Who was let in before is not shut out by somebody at the same address who guesses; whoever only guesses
    // learns nothing once they have to wait.
    if let seconds = failures.secondsToWait(address), !(isRight && logins.contains(address)) {
      return .failure(.tooManyLogins(seconds))
    }
    guard isRight else {
      failures.note(address)
      return .failure(.passwordNeeded)
    }
    logins.note(address)
    let name = OutsideText.identifier(user).map { " \($0.prefix(64))" } ?? ""
    return .success("dashboard\(name) (\(head.remoteAddress))")
  }

  /// Whether a host is an address or `localhost`. A page whose own name was made to lead here (DNS rebinding)
  /// comes with that name.
  static func isLocalHost(_ host: String?) -> Bool {
    guard let host else { return false }
    if host.hasPrefix("[") {
      let inside = host.dropFirst().prefix { $0 != "]" }
      let rest = host.dropFirst(inside.count + 2)
      return IPAddress(String(inside))?.isIPv6 == true && (rest.isEmpty || rest.hasPrefix(":"))
    }
    let name = String(host.prefix { $0 != ":" })
    return name.lowercased() == "localhost" || IPAddress(name) != nil
  }

  /// The user and the password of `Basic …` (RFC 7617 §2); nil when they are neither.
  static func credentials(_ field: String?) -> (user: String, password: [UInt8])? {
    guard let field, field.utf8.count <= 8192 else { return nil }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "basic",
      let data = Data(base64Encoded: String(parts[1]))
    else { return nil }
    let bytes = [UInt8](data)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let user = String(validating: bytes[..<colon], as: UTF8.self)
    else { return nil }
    return (user, Array(bytes[(colon + 1)...]))
  }

  /// What one attacker has: an IPv4 address, or the half of an IPv6 one that names a network.
  private static func group(_ address: String) -> String {
    guard let parsed = IPAddress(address), parsed.isIPv6 else { return address }
    return Hex.encode(Array(parsed.bytes.prefix(8)))
  }

  /// Whether a form comes from a page of this listener. Browsers say where a request comes from, and no page
  /// can change that (https://www.w3.org/TR/fetch-metadata/); what is no browser has a token to show anyway.
  public static func isOfThisSite(_ head: RequestHead) -> Bool {
    // Also behind a proxy that changes the host.
    if let site = head.header("Sec-Fetch-Site") { return site == "same-origin" }
    guard let origin = head.header("Origin") else { return true }
    guard let host = head.header("Host") else { return false }
    return origin == "http://\(host)" || origin == "https://\(host)"
  }
}

/// Addresses from which the right password came, in a list that does not grow.
private final class KnownAddresses: Sendable {
  private static let countMax = 100

  private let addresses = Monitor<[String]>([])

  func contains(_ address: String) -> Bool { addresses.withLock { $0.contains(address) } }

  /// The latest stands last; the longest unheard of is the first to go.
  func note(_ address: String) {
    addresses.withLock { addresses in
      if addresses.last == address { return }
      addresses.removeAll { $0 == address }
      addresses.append(address)
      if addresses.count > Self.countMax { addresses.removeFirst() }
    }
  }
}

/// Counts wrong passwords by address, in a table that does not grow.
final class FailedLogins: Sendable {
  static let perMinuteMax = 10
  static let addressesMax = 1000
  private static let windowMilliseconds: Int64 = 60_000

  private let windows = Monitor<[String: (count: Int, until: MonotonicInstant)]>([:])
  private let clock: any Clock

  init(clock: any Clock) { self.clock = clock }

  /// How long an address is not heard; nil when it is.
  func secondsToWait(_ address: String) -> Int? {
    let now = clock.monotonic
    return windows.withLock { windows in
      guard let window = windows[address], window.until > now, window.count >= Self.perMinuteMax else {
        return nil
      }
      return Int(clamping: window.until.milliseconds(since: now) / 1000 + 1)
    }
  }

  /// How many addresses are remembered.
  var addressCount: Int { windows.withLock { $0.count } }

  func note(_ address: String) {
    let now = clock.monotonic
    let end = now.advanced(byMilliseconds: Self.windowMilliseconds)
    windows.withLock { windows in
      if windows.count >= Self.addressesMax, windows[address] == nil {
        windows = windows.filter { $0.value.until > now }
        if windows.count >= Self.addressesMax,
          let oldest = windows.min(by: { $0.value.until < $1.value.until })
        {
          windows[oldest.key] = nil
        }
      }
      let window = windows[address].flatMap { $0.until > now ? $0 : nil }
      windows[address] = ((window?.count ?? 0) + 1, window?.until ?? end)
    }
  }
}

/// Tokens that show that a form is of this process and for this purpose.
public struct FormTokens: Sendable {
  private let key: HMACSHA256

  public init() throws(CryptographyError) {
    let random = SecretRandomness()
    var bytes: [UInt8] = []
    for _ in 0..<32 { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
    key = try HMACSHA256(key: bytes)
  }

  /// - Parameter purpose: what the form does and to what.
  func token(for purpose: String) -> String { Hex.encode(key.authenticationCode(for: Array(purpose.utf8))) }

  func accepts(_ token: String?, for purpose: String) -> Bool {
    guard let token else { return false }
    return constantTimeEqual(Array(token.utf8), Array(self.token(for: purpose).utf8))
  }
}

extension Problem {
  static let misdirected = Problem(
    slug: "misdirected", title: "Misdirected request", status: 421,
    detail: "Without a password this is reached by address (127.0.0.1, [::1]) or as localhost only. "
      + "For another name set admin.password.")
  public static let passwordNeeded = Problem(
    slug: "unauthorized", title: "Password needed", status: 401,
    detail: "Send the password of `admin.password`, with any user name.",
    headers: ["WWW-Authenticate": "Basic realm=\"receiptd\", charset=\"UTF-8\""])
  static func tooManyLogins(_ seconds: Int) -> Problem {
    Problem(
      slug: "too-many-logins", title: "Too many wrong passwords", status: 429,
      detail: "Wait a minute, then try the right one.", headers: ["Retry-After": String(seconds)])
  }
  public static let foreignForm = Problem(
    slug: "foreign-form", title: "Form not accepted", status: 403,
    detail:
      "The form is not of this page, or older than the running receiptd. Go back, reload the page and "
      + "send it again. Nothing was changed.")
}
