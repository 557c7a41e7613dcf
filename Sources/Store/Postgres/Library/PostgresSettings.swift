// Connection settings as libpq understands them: a URI or "key=value" pairs. A value.

internal import CPostgreSQL
internal import Glibc

/// How to reach a database (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING). It may
/// contain a password: only `description` may be shown.
public struct PostgresSettings: Sendable, Equatable, CustomStringConvertible {
  /// A server of the list, in the order of the attempts.
  struct Host: Sendable, Equatable {
    /// A name, an address, or the folder of a socket; nil for libpq's default.
    var name: String?
    /// The address, if the settings have one.
    var address: String?
    var port: String
  }

  /// Every setting except those of hosts.
  let options: [String: String]
  let hosts: [Host]
  /// How many hosts the list has.
  public var hostCount: Int { hosts.count }
  /// The time limit for one address of one host.
  public let connectTime: Duration

  /// The time limit for one address if the settings have no `connect_timeout`.
  public static let connectTimeDefault: Duration = .seconds(5)

  private static let portDefault = "5432"
  /// Settings that depend on all hosts, or on a file. The attempts are made here, one host at a time.
  private static let unsupported = ["service", "load_balance_hosts"]

  /// - Throws: `noLibrary`, or `invalidSettings` with what to correct. The text itself is never in the error.
  public init(_ text: String) throws(PostgresError) {
    try PostgresLibrary.load()
    let given = try Self.parse(text)
    let defaults = Self.defaults()
    func setting(_ name: String) -> String? { given[name] ?? defaults[name] }
    hosts = try Self.hosts(setting("host"), setting("hostaddr"), setting("port"))
    connectTime = try Self.connectTime(setting("connect_timeout"))
    var options = given
    for name in Self.unsupported where given[name] != nil {
      throw Self.invalid("the parameter \(name) of the database's URL is not supported")
    }
    if setting("target_session_attrs")?.hasPrefix("prefer") ?? false {
      throw Self.invalid(
        "target_session_attrs=prefer-standby in the database's URL: a standby cannot be written")
    }
    for name in ["host", "hostaddr", "port", "connect_timeout"] { options[name] = nil }
    // A slash or an @ here is the rest of a password.
    if let database = options["dbname"], database.contains("/") || database.contains("@") {
      throw Self.invalid(Self.encodingAdvice)
    }
    // All text is UTF-8, whatever the environment says.
    options["client_encoding"] = "UTF8"
    // A dead peer is noticed before TCP's own limits of many minutes. Calls have their own time limits; these
    // concern connections without a call.
    let keepAlive = [
      "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
      "tcp_user_timeout": "30000",
    ]
    for (name, value) in keepAlive where setting(name) == nil { options[name] = value }
    // Unless it is asked for, no key distribution center is contacted.
    if given["gssencmode"] == nil { options["gssencmode"] = "disable" }
    self.options = options
  }

  /// The database and its hosts, without a user or a password.
  public var description: String {
    let places = hosts.map { host in
      let port = host.port == Self.portDefault ? "" : ":\(host.port)"
      return (host.name ?? host.address ?? "the default host") + port
    }
    let database = options["dbname"].map { "database \($0)" } ?? "the default database"
    return "\(database) on \(places.joined(separator: ", "))"
  }

  /// The settings for one attempt.
  func options(for host: Host) -> [String: String] {
    var all = options
    all["host"] = host.name
    all["hostaddr"] = host.address
    all["port"] = host.port
    return all
  }

  private static func parse(_ text: String) throws(PostgresError) -> [String: String] {
    var message: UnsafeMutablePointer<CChar>?
    guard !text.utf8.contains(0), let list = unsafe cpg_PQconninfoParse(text, &message) else {
      defer { unsafe cpg_PQfreemem(message) }
      throw invalid(mistake(unsafe message.map { unsafe String(cString: $0) } ?? ""))
    }
    defer { unsafe cpg_PQconninfoFree(list) }
    return unsafe values(list)
  }

  /// libpq's message quotes parts of the text, which may be a part of the password; so only its kind is used.
  private static func mistake(_ message: String) -> String {
    if message.hasPrefix("invalid percent-encoded") { return encodingAdvice }
    if message.hasPrefix("invalid URI query parameter") || message.hasPrefix("invalid connection option") {
      return "the database's URL has a parameter that libpq does not know; " + encodingAdvice
    }
    return "the database's URL cannot be read: it must be like postgres://user:password@host/database; "
      + encodingAdvice
  }

  private static let encodingAdvice =
    "in the user and the password of the database's URL, write @ as %40, : as %3A, / as %2F, ? as %3F and "
    + "% as %25"

  /// What the environment (PGHOST …) and libpq itself set.
  private static func defaults() -> [String: String] {
    guard let list = unsafe cpg_PQconndefaults() else { return [:] }
    defer { unsafe cpg_PQconninfoFree(list) }
    return unsafe values(list)
  }

  private static func values(_ list: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
    var values: [String: String] = [:]
    var place = unsafe list
    while let keyword = unsafe place.pointee.keyword {
      if let value = unsafe place.pointee.val, unsafe value.pointee != 0 {
        unsafe values[String(cString: keyword)] = String(cString: value)
      }
      unsafe place += 1
    }
    return values
  }

  /// As libpq understands it: 0 or less is no limit, and 1 is rounded up. Here every attempt has a limit.
  private static func connectTime(_ text: String?) throws(PostgresError) -> Duration {
    guard let text else { return connectTimeDefault }
    guard let seconds = Int64(text) else {
      throw invalid("connect_timeout in the database's URL must be a whole number of seconds")
    }
    return seconds <= 0 ? connectTimeDefault : .seconds(min(max(2, seconds), 3600))
  }

  private static func invalid(_ reason: String) -> PostgresError {
    PostgresError(.invalidSettings, operation: "read settings", reason: reason)
  }
}

extension PostgresSettings {
  /// Pairs the lists of names, addresses and ports, as libpq does.
  private static func hosts(
    _ names: String?, _ addresses: String?, _ ports: String?
  ) throws(PostgresError) -> [Host] {
    func list(_ text: String?) -> [String] {
      text?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
    let (names, addresses, ports) = (list(names), list(addresses), list(ports))
    let count = max(names.count, addresses.count, 1)
    guard names.isEmpty || addresses.isEmpty || names.count == addresses.count else {
      throw invalid(
        "the database's URL has \(names.count) hosts but \(addresses.count) addresses in hostaddr")
    }
    guard ports.count <= 1 || ports.count == count else {
      throw invalid("the database's URL has \(count) hosts but \(ports.count) ports")
    }
    // Not quoted: with an unencoded @ or / in a password, its parts are read as a host or a port.
    guard names.allSatisfy(isPlausible), ports.allSatisfy({ UInt16($0).map { $0 > 0 } ?? $0.isEmpty }) else {
      throw invalid("a host or a port in the database's URL is none; " + encodingAdvice)
    }
    return (0..<count).map { index in
      let port = ports.count == 1 ? ports[0] : ports.isEmpty ? "" : ports[index]
      return Host(
        name: names.isEmpty ? nil : names[index], address: addresses.isEmpty ? nil : addresses[index],
        port: port.isEmpty ? portDefault : port)
    }
  }

  /// A name or an address; or the folder of a socket, which begins with a slash, or with @ for an abstract
  /// one.
  private static func isPlausible(_ name: String) -> Bool {
    if name.hasPrefix("/") || name.hasPrefix("@") { return !name.dropFirst().contains("@") }
    return !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x80 || hostBytes.contains($0) }
  }

  /// Letters, digits, and what names and addresses have besides: a scope of IPv6 follows a percent sign.
  private static let hostBytes = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%".utf8)
}

// MARK: - HostAddresses

// The addresses of a host name. libpq would resolve it itself, but it stays at a silent address until TCP
// gives up (minutes); so each address gets an attempt with a time limit.

enum HostAddresses {
  /// The system's description (gai_strerror(3)).
  struct Failure: Error {
    let reason: String
  }

  /// The addresses of a name in numeric form, in the system's order (getaddrinfo(3)). Blocks while the
  /// system's resolver works, which has time limits of its own (resolv.conf(5)).
  static func resolve(_ name: String) -> Result<[String], Failure> {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(name, nil, &hints, &list)
    guard code == 0 else { return .failure(Failure(reason: unsafe String(cString: gai_strerror(code)))) }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [String] = []
    var entry = unsafe list
    while let present = unsafe entry {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let code = unsafe getnameinfo(
        present.pointee.ai_addr, present.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST)
      if code == 0 {
        let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        addresses.append(String(decoding: bytes, as: UTF8.self))
      }
      unsafe entry = present.pointee.ai_next
    }
    return .success(addresses)
  }
}

// MARK: - PostgresLibrary

// Loads libpq when the first database URL is read. Thread-safe.

/// libpq, which is loaded at run time.
enum PostgresLibrary {
  /// Loads the library, if this has not been done.
  /// - Throws: `noLibrary`, with the package that contains it.
  static func load() throws(PostgresError) {
    guard let message = unsafe cpg_load() else { return }
    throw PostgresError(
      .noLibrary, operation: "load libpq",
      reason: unsafe String(cString: message)
        + "; a PostgreSQL database needs libpq 14 or later: apt-get install libpq5")
  }
}
