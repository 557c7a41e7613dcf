// Access control of the admin listener: a password (HTTP Basic, RFC 7617), compared in constant time and with
// limited attempts. Without a password, it keeps out web pages that a browser on this machine shows.
// libmicrohttpd's threads.

public import Configuration
internal import Cryptography
internal import Domain
internal import Durations
internal import Encoding
public import HTTPServer
public import HTTPService
public import Platform

/// Authenticates requests to the admin listener.
public struct AdminAccess: Sendable {
  /// Nil if no password is configured.
  private let passwordDigest: [UInt8]?
  /// Whether any TCP connection from this machine is trusted.
  private let trustsMachine: Bool
  private let failures: FailedLogins
  private let logins = KnownAddresses()

  /// - Throws: `Fault` if the password cannot be read.
  public init(_ admin: Configuration.Admin, clock: any Clock) throws(Fault) {
    passwordDigest = try admin.password.map { password throws(Fault) in
      SHA256.digest(Array(try password.reveal().utf8))
    }
    trustsMachine = admin.password == nil && admin.socketPath == nil
    failures = FailedLogins(clock: clock)
  }

  /// The user's name for the audit, such as `dashboard anna (127.0.0.1)`; or the problem to answer.
  public func visitor(_ head: RequestHead) -> Result<String, Problem> {
    if trustsMachine, !Self.isLocalHost(head.header("Host")) { return .failure(.misdirected) }
    guard let passwordDigest else { return .success("dashboard (\(head.remoteAddress))") }
    let address = Self.group(head.remoteAddress)
    guard let (user, password) = Self.credentials(head.header("Authorization")) else {
      return .failure(.passwordNeeded)
    }
    // Compare digests, so that timing does not disclose the password's length.
    let isRight = constantTimeEqual(SHA256.digest(password), passwordDigest)
    // Guesses from an address must not lock out a user who logged in from it before. While an address must
    // wait, a guess gets no information about the password.
    if let seconds = failures.secondsToWait(address), !(isRight && logins.contains(address)) {
      return .failure(.tooManyLogins(seconds))
    }
    guard isRight else {
      failures.note(address)
      return .failure(.passwordNeeded)
    }
    logins.note(address)
    let name = UntrustedText.identifier(user).map { " \($0.prefix(64))" } ?? ""
    return .success("dashboard\(name) (\(head.remoteAddress))")
  }

  /// Whether a host is an IP address or `localhost`. With DNS rebinding, a foreign page's requests have its
  /// own host name.
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

  /// The user and the password of `Basic …` (RFC 7617 §2); nil for anything else.
  static func credentials(_ field: String?) -> (user: String, password: [UInt8])? {
    guard let field, field.utf8.count <= 8192 else { return nil }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let scheme = parts.first, scheme.lowercased() == "basic", let text = parts.last,
      let bytes = Base64.decode(text.utf8.span, .standard),
      let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let user = String(validating: bytes[..<colon], as: UTF8.self)
    else { return nil }
    return (user, Array(bytes[(colon + 1)...]))
  }

  /// The unit that attempts are counted by: an IPv4 address, or the first 64 bits of an IPv6 address.
  private static func group(_ address: String) -> String {
    guard let parsed = IPAddress(address), parsed.isIPv6 else { return address }
    return Hex.encode(Array(parsed.bytes.prefix(8)))
  }

  /// Whether a form was sent by a page of this listener. Browsers set these headers, and pages cannot change
  /// them (https://www.w3.org/TR/fetch-metadata/). Other clients need a form token in any case.
  public static func isOfThisSite(_ head: RequestHead) -> Bool {
    // This also holds behind a proxy that changes the host.
    if let site = head.header("Sec-Fetch-Site") { return site == "same-origin" }
    guard let origin = head.header("Origin") else { return true }
    guard let host = head.header("Host") else { return false }
    return origin == "http://\(host)" || origin == "https://\(host)"
  }
}

/// Addresses with a successful login, in a list of bounded size.
private final class KnownAddresses: Sendable {
  private static let countMax = 100

  private let addresses = Monitor<[String]>([])

  func contains(_ address: String) -> Bool { addresses.withLock { $0.contains(address) } }

  /// Moves the address to the end; evicts the first, which is the least recently used.
  func note(_ address: String) {
    addresses.withLock { addresses in
      if addresses.last == address { return }
      addresses.removeAll { $0 == address }
      addresses.append(address)
      if addresses.count > Self.countMax { addresses.removeFirst() }
    }
  }
}

/// Counts wrong passwords by address, in a table of bounded size.
final class FailedLogins: Sendable {
  static let perMinuteMax = 10
  static let addressesMax = 1000
  private static let window: Duration = .seconds(60)

  private let windows = Monitor<[String: (count: Int, until: MonotonicInstant)]>([:])
  private let clock: any Clock

  init(clock: any Clock) { self.clock = clock }

  /// How long an address must wait; nil if it need not.
  func secondsToWait(_ address: String) -> Int? {
    let now = clock.monotonic
    return windows.withLock { windows in
      guard let window = windows[address], window.until > now, window.count >= Self.perMinuteMax else {
        return nil
      }
      return Int(clamping: window.until.duration(since: now).milliseconds / 1000 + 1)
    }
  }

  /// The number of addresses in the table.
  var addressCount: Int { windows.withLock { $0.count } }

  func note(_ address: String) {
    let now = clock.monotonic
    let end = now.advanced(by: Self.window)
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

/// Tokens that prove that a form comes from a page of this service, for one purpose.
public struct FormTokens: Sendable {
  private let key: HMACSHA256

  /// With a password, all instances on one database accept each other's forms: a load balancer may send a
  /// form to another instance than its page. Only users who know the password see a token. Without a password
  /// the listener serves one machine, and the key is random.
  /// - Throws: `Fault` if the password cannot be read; `CryptographyError`.
  public init(_ admin: Configuration.Admin) throws {
    if let password = try admin.password?.reveal() {
      let secret = try HMACSHA256(key: Array(password.utf8))
      key = try HMACSHA256(key: secret.authenticationCode(for: Array("receiptd form tokens".utf8)))
    } else {
      let random = SecretRandomness()
      key = try HMACSHA256(key: (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }
  }

  /// - Parameter purpose: the form's action and its subject.
  func token(for purpose: String) -> String { Hex.encode(key.authenticationCode(for: Array(purpose.utf8))) }

  func accepts(_ token: String?, for purpose: String) -> Bool {
    guard let token else { return false }
    return constantTimeEqual(Array(token.utf8), Array(self.token(for: purpose).utf8))
  }
}

extension Problem {
  static let misdirected = Problem(
    slug: "misdirected", title: "Misdirected request", status: 421,
    detail: "Without a password this page is served for an address (127.0.0.1, [::1]) or localhost only. "
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
      "The form is not from this page, or from before a restart. Go back, reload the page and "
      + "send it again. Nothing was changed.")
}
