// Access control of the admin listener: names with passwords (HTTP Basic, RFC 7617) or tokens (RFC 6750),
// compared in constant time, with limited attempts and a cookie for those who passed; or the name that a
// trusted proxy gives. Without any of them, it keeps out web pages that a browser on this machine shows.
// libmicrohttpd's threads.

public import Config
internal import Cryptography
internal import Domain
internal import Formats
public import HTTPServer
public import Platform
public import Service
public import Store

/// Authenticates requests to the admin listener.
public struct AdminAccess: Sendable {
  /// A configured name. Secrets are kept and compared as digests, so that timing discloses no length.
  private struct User {
    let name: String
    let mayChange: Bool
    let password: [UInt8]?
    let token: [UInt8]?

    init(_ user: Configuration.Admin.User, mayChange: Bool) throws(Fault) {
      (name, self.mayChange) = (user.name, mayChange)
      password = try AdminAccess.digest(user.password)
      token = try AdminAccess.digest(user.token)
    }
  }

  private let users: [User]
  /// For all other names; nil if no password is configured.
  private let passwordDigest: [UInt8]?
  private let needsLogin: Bool
  private let proxies: TrustedProxies
  /// Whether any TCP connection from this machine is trusted.
  private let trustsMachine: Bool
  private let failures: FailedLogins
  private let logins: LoginCookies

  /// The field in which a trusted proxy names the user.
  static let proxyField = "X-Remote-User"

  /// - Throws: `Fault` if a password or a token cannot be read.
  public init(_ admin: Configuration.Admin, key: AdminKey, clock: any Clock) throws(Fault) {
    var users: [User] = []
    for user in admin.viewers { users.append(try User(user, mayChange: false)) }
    for user in admin.operators { users.append(try User(user, mayChange: true)) }
    self.users = users
    passwordDigest = try Self.digest(admin.password)
    needsLogin = admin.hasLogin
    proxies = TrustedProxies(prefixes: admin.proxies)
    trustsMachine = !admin.hasLogin && admin.socketPath == nil
    failures = FailedLogins(clock: clock)
    logins = LoginCookies(key: key, clock: clock)
  }

  private static func digest(_ secret: Secret?) throws(Fault) -> [UInt8]? {
    guard let secret else { return nil }
    return SHA256.digest(Array(try secret.reveal().utf8))
  }

  /// The user's name for the audit, such as `dashboard anna (127.0.0.1)`, and what the user may do; or the
  /// problem to answer.
  /// - Parameter isProgram: whether the path is for programs. Browsers send passwords and a proxy's login
  ///   with forms of any site, but tokens with none, so only tokens count there.
  public func visitor(_ head: RequestHead, isProgram: Bool = false) -> Result<Visitor, Problem> {
    if trustsMachine, !Self.isLocalHost(head.header("Host")) { return .failure(.misdirected) }
    let face = isProgram ? "api" : "dashboard"
    func visitor(_ user: String, mayChange: Bool) -> Visitor {
      Visitor(name: "\(face)\(user) (\(head.remoteAddress))", mayChange: mayChange)
    }
    guard needsLogin else { return .success(visitor("", mayChange: true)) }
    if let token = Self.token(head.header("Authorization")) {
      let digest = SHA256.digest(token)
      // Compares with all of them, also after a match.
      let matches = users.filter { $0.token.map { constantTimeEqual(digest, $0) } ?? false }
      guard let user = matches.first else { return .failure(isProgram ? .tokenNeeded : .passwordNeeded) }
      return .success(visitor(" \(user.name)", mayChange: user.mayChange))
    }
    guard !isProgram else { return .failure(.tokenNeeded) }
    if let address = IPAddress(head.remoteAddress), proxies.contains(address),
      // With DNS rebinding, a page that a browser on this machine shows may send any field but this one
      // (https://fetch.spec.whatwg.org/#forbidden-request-header).
      !address.isLoopback || head.header("Via") != nil
    {
      let names = head.headers(Self.proxyField)
      if !names.allSatisfy(\.isEmpty) || head.isUndecodable(Self.proxyField) {
        // With two fields one may be the client's.
        guard names.count == 1, !head.isUndecodable(Self.proxyField),
          let user = users.first(where: { $0.name == names[0] })
        else {
          return .failure(.notInLists)
        }
        return .success(visitor(" \(user.name)", mayChange: user.mayChange))
      }
    }
    guard let (name, password) = Self.credentials(head.header("Authorization")) else {
      return .failure(.passwordNeeded)
    }
    let user = users.first { $0.name == name }
    // With the shared password any name can be typed; among users' names it is marked.
    let mark = user == nil && !users.isEmpty ? "\"" : ""
    let shown = UntrustedText.identifier(name).map { " \(mark)\($0.prefix(64))\(mark)" } ?? ""
    return logIn(
      head, name, password, digest: user == nil ? passwordDigest : user?.password,
      visitor(shown, mayChange: user?.mayChange ?? true))
  }

  /// - Parameter digest: that of the name's password; nil if no password lets it in.
  private func logIn(
    _ head: RequestHead, _ name: String, _ password: [UInt8], digest: [UInt8]?, _ visitor: Visitor
  ) -> Result<Visitor, Problem> {
    var visitor = visitor
    let address = Self.group(head.remoteAddress)
    // Guesses from an address must not lock out a browser that logged in before; it shows a cookie. The
    // password is not compared while the address must wait: the answer, or its time, would tell whether it is
    // right.
    if let seconds = failures.begin(address) {
      let isKnown = digest.map { logins.accept(head, name, $0) } ?? false
      return isKnown ? .success(visitor) : .failure(.tooManyLogins(seconds))
    }
    let given = SHA256.digest(password)
    // Without a password, the same time is spent.
    guard constantTimeEqual(given, digest ?? given.reversed()), let digest else {
      return .failure(.passwordNeeded)
    }
    failures.forgive(address)
    if !logins.accept(head, name, digest), let cookie = logins.cookie(for: name, digest) {
      visitor.fields = [cookie]
    }
    return .success(visitor)
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

  /// The token of `Bearer …` (RFC 6750 §2.1); nil for anything else.
  private static func token(_ field: String?) -> [UInt8]? {
    guard let field, field.utf8.count <= 8192 else { return nil }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return Array(parts[1].utf8)
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

/// The cookies of browsers that have logged in. A cookie is signed and needs no memory; it is for one user
/// name, and the password's change or its time ends it.
private struct LoginCookies: Sendable {
  private static let name = "receiptd_login"
  private static let lifetimeSeconds: Int64 = 7 * 86_400

  let key: AdminKey
  let clock: any Clock

  /// No page of another site may have it sent (RFC 6265bis, SameSite), and no script reads it.
  /// Nil while the database cannot be read.
  func cookie(for user: String, _ passwordDigest: [UInt8]) -> (name: String, value: String)? {
    let end = clock.wallMilliseconds / 1000 + Self.lifetimeSeconds
    guard let code = code(user, end, passwordDigest) else { return nil }
    let value = "\(end).\(code)"
    return (
      "Set-Cookie",
      "\(Self.name)=\(value); Path=/; Max-Age=\(Self.lifetimeSeconds); HttpOnly; SameSite=Strict"
    )
  }

  /// Whether the request has a cookie of this user.
  func accept(_ head: RequestHead, _ user: String, _ passwordDigest: [UInt8]) -> Bool {
    let pairs = head.headers("Cookie").flatMap { $0.split(separator: ";") }
    return pairs.contains { pair in
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == Self.name else { return false }
      let value = parts[1].split(separator: ".", maxSplits: 1)
      guard value.count == 2, let end = Int64(value[0]), end > clock.wallMilliseconds / 1000,
        let code = code(user, end, passwordDigest)
      else { return false }
      return constantTimeEqual(Array(value[1].utf8), Array(code.utf8))
    }
  }

  private func code(_ user: String, _ end: Int64, _ passwordDigest: [UInt8]) -> String? {
    key.code("login\n\(end)\n", passwordDigest, Array(user.utf8))
  }
}

/// The database's random key for form tokens and cookies: they say nothing about the password, and all relays
/// on the database accept each other's, because a load balancer may send a form to another relay than its
/// page. It is read when it is first needed: receiptd starts even if its database cannot be reached.
/// Thread-safe.
public final class AdminKey: Sendable {
  private enum State {
    case unread(StoreReader)
    case known(HMACSHA256)
  }

  private let state: Monitor<State>

  public init(_ reader: sending StoreReader) { state = Monitor(.unread(reader)) }

  init(_ key: [UInt8]) throws(CryptographyError) { state = Monitor(.known(try HMACSHA256(key: key))) }

  /// The code of a text and the bytes after it, in hexadecimal; nil while the database cannot be read.
  fileprivate func code(_ text: String, _ bytes: [UInt8], _ more: [UInt8] = []) -> String? {
    let key = state.withLock { state -> HMACSHA256? in
      if case .unread(let reader) = state, let key = try? HMACSHA256(key: reader.adminKey()) {
        state = .known(key)
      }
      return if case .known(let key) = state { key } else { nil }
    }
    return key.map { Hex.encode($0.authenticationCode(for: Array(text.utf8), bytes, more)) }
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

  /// Counts an attempt as a wrong one, before its password is compared.
  /// - Returns: how many seconds the address must wait, in which case nothing was counted; nil if it need
  ///   not.
  func begin(_ address: String) -> Int? {
    let now = clock.monotonic
    let end = now.advanced(by: Self.window)
    return windows.withLock { windows in
      let window = windows[address].flatMap { $0.until > now ? $0 : nil }
      if let window, window.count >= Self.perMinuteMax {
        return Int(clamping: window.until.duration(since: now).milliseconds / 1000 + 1)
      }
      if windows.count >= Self.addressesMax, windows[address] == nil {
        windows = windows.filter { $0.value.until > now }
        if windows.count >= Self.addressesMax,
          let oldest = windows.min(by: { $0.value.until < $1.value.until })
        {
          windows[oldest.key] = nil
        }
      }
      windows[address] = ((window?.count ?? 0) + 1, window?.until ?? end)
      return nil
    }
  }

  /// The attempt that began had the right password.
  func forgive(_ address: String) {
    windows.withLock { windows in
      guard let window = windows[address] else { return }
      windows[address] = window.count > 1 ? (window.count - 1, window.until) : nil
    }
  }

  /// The number of addresses in the table.
  var addressCount: Int { windows.withLock { $0.count } }
}

/// Tokens that prove that a form comes from a page of this service, for one purpose and one user.
public struct FormTokens: Sendable {
  private let key: AdminKey
  /// Who gets the tokens.
  private var user = ""

  public init(key: AdminKey) { self.key = key }

  /// The tokens of the user who sent a request. Without the client's IP address, which may change between a
  /// page and its form.
  func bound(to visit: Visit) -> FormTokens {
    var tokens = self
    let address = " (\(visit.head.remoteAddress))"
    let isIP = IPAddress(visit.head.remoteAddress) != nil
    tokens.user = isIP ? visit.visitor.replacing(address, with: "") : visit.visitor
    return tokens
  }

  /// Empty while the database cannot be read.
  /// - Parameter purpose: the form's action and its subject.
  func token(for purpose: String) -> String {
    key.code("form\n\(user)\n", Array(purpose.utf8)) ?? ""
  }

  func accepts(_ token: String?, for purpose: String) -> Bool {
    let expected = self.token(for: purpose)
    guard let token, !expected.isEmpty else { return false }
    return constantTimeEqual(Array(token.utf8), Array(expected.utf8))
  }
}

extension Problem {
  static let misdirected = Problem(
    slug: "misdirected", title: "Misdirected request", status: 421,
    detail: "Without a password this page is served for an address (127.0.0.1, [::1]) or localhost only. "
      + "For another name set admin.password or admin.operators.")
  public static let passwordNeeded = Problem(
    slug: "unauthorized", title: "Password needed", status: 401,
    detail: "Send the name and the password of a user of `admin.operators` or `admin.viewers`; or the "
      + "password of `admin.password`, with another name.",
    headers: ["WWW-Authenticate": "Basic realm=\"receiptd\", charset=\"UTF-8\""])
  public static let tokenNeeded = Problem(
    slug: "unauthorized", title: "Token needed", status: 401,
    detail: "Send `Authorization: Bearer TOKEN` with the `token` of a user of `admin.operators` or "
      + "`admin.viewers`. Passwords do not count here.",
    headers: ["WWW-Authenticate": "Bearer"])
  static let notInLists = Problem(
    slug: "unknown-user-of-proxy", title: "Not a user of this relay", status: 403,
    detail: "The proxy in front (`admin.proxies`) must send the name of one viewer or operator in one field "
      + "\(AdminAccess.proxyField), letter for letter. Add the name to `admin.viewers` or `admin.operators`.")
  /// For a viewer.
  public static let operatorsOnly = Problem(
    slug: "operators-only", title: "For operators only", status: 403,
    detail: "You are a viewer (`admin.viewers`): you may look, but change nothing, and read no personal "
      + "bodies. Nothing was changed.")
  static func tooManyLogins(_ seconds: Int) -> Problem {
    Problem(
      slug: "too-many-logins", title: "Too many wrong passwords", status: 429,
      detail: "Wait a minute, then try the right one.", headers: ["Retry-After": String(seconds)])
  }
  public static let foreignForm = Problem(
    slug: "foreign-form", title: "Form not accepted", status: 403,
    detail:
      "The form is not from this page, or it was made for another user. Go back, reload the page and "
      + "send it again. Nothing was changed.")
}
