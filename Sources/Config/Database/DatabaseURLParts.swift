// The parts of a PostgreSQL URL, split as libpq splits it (conninfo_uri_parse_options in fe-connect.c), but
// without libpq. Pure; any thread.

internal import Formats
internal import Platform

/// The parts as they are written, still percent-encoded.
struct DatabaseURLParts {
  /// Why a text is not such a URL, as the end of a sentence. It repeats no part of the text: with a password
  /// that is not encoded, every part may be a piece of it (R7).
  struct Mistake: Error {
    let what: String
    /// What to write instead.
    let advice: String

    init(_ what: String, _ advice: String = encodingAdvice) { (self.what, self.advice) = (what, advice) }
  }

  struct Parameter {
    var name: Substring
    var value: Substring
  }

  /// libpq knows no others, and does not ignore case.
  static let schemes = ["postgres://", "postgresql://"]

  var scheme: Substring
  var user: Substring?
  var password: Substring?
  /// Hosts with their ports, separated by commas.
  var hosts: Substring
  /// After the slash; nil without one.
  var database: Substring?
  var parameters: [Parameter]

  /// The scheme of a URL; nil for a text that is not one. All splitting is by bytes, as in libpq: a character
  /// of Swift may be an @ and an accent.
  static func scheme(of text: String) -> String? { schemes.first { text.utf8.starts(with: $0.utf8) } }

  /// Splits and checks a URL. What it accepts, libpq may still refuse.
  init(_ text: String) throws(Mistake) {
    guard let prefix = Self.scheme(of: text) else {
      throw Mistake("must begin with postgres://", "write a URL such as \(Self.example)")
    }
    scheme = text[..<text.utf8.index(text.startIndex, offsetBy: prefix.utf8.count)]
    var rest = text[scheme.endIndex...]
    // A slash ends the search for user and password, so a password with a slash is read as a host and a port.
    let start = rest.prefix(before: "@/")
    if rest[start.endIndex...].begins(with: "@") {
      let name = start.prefix(before: ":")
      user = name
      password = name.endIndex < start.endIndex ? start[name.endIndex...].withoutFirst : nil
      rest = rest[start.endIndex...].withoutFirst
    }
    hosts = rest.prefix(before: "/?")
    rest = rest[hosts.endIndex...]
    if rest.begins(with: "/") {
      let name = rest.withoutFirst.prefix(before: "?")
      database = name
      rest = rest[name.endIndex...]
    }
    parameters = try Self.parameters(rest.withoutFirst)
    try check()
  }

  /// The URL of these parts.
  var text: String {
    let credentials = user.map { $0 + (password.map { ":\($0)" } ?? "") + "@" } ?? ""
    let query = parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return scheme + credentials + hosts + (database.map { "/\($0)" } ?? "")
      + (query.isEmpty ? "" : "?\(query)")
  }

  static let example = "postgres://receiptd@db.example.com/receipts"

  static let encodingAdvice =
    "in its user and password, write @ as %40, : as %3A, / as %2F, ? as %3F and % as %25"

  private static func parameters(_ query: Substring) throws(Mistake) -> [Parameter] {
    var members = query.pieces(between: "&")
    // libpq accepts an & at the end.
    if members.last?.isEmpty == true { members.removeLast() }
    var parameters: [Parameter] = []
    for member in members {
      let sides = member.pieces(between: "=")
      guard sides.count == 2 else {
        throw Mistake(
          "has a parameter that is not name=value",
          "in a value, write & as %26 and = as %3D; \(encodingAdvice)")
      }
      parameters.append(Parameter(name: sides[0], value: sides[1]))
    }
    return parameters
  }

  private func check() throws(Mistake) {
    let all =
      [user, password, hosts, database].compactMap(\.self) + parameters.flatMap { [$0.name, $0.value] }
    for part in all {
      guard let decoded = Self.decoded(part), !decoded.utf8.contains(0) else {
        throw Mistake("has a % that two hexadecimal digits do not follow")
      }
    }
    guard !hosts.has("@") else { throw Mistake("has an @ in its host") }
    for host in hosts.pieces(between: ",") {
      guard let port = try Self.port(of: host), !port.isEmpty else { continue }
      guard let number = UInt16(port), number > 0, !port.begins(with: "+") else {
        throw Mistake("has a port that is not a number from 1 to 65535")
      }
    }
    // A slash or an @ here is the rest of a password.
    let name = Substring(database.flatMap(Self.decoded) ?? "")
    guard !name.has("/"), !name.has("@") else {
      throw Mistake("has a / or an @ in the name of its database")
    }
    // So is an @ in a parameter that libpq does not know, after a password with / and ?.
    guard !parameters.contains(where: { !$0.isKnown && ($0.name.has("@") || $0.value.has("@")) }) else {
      throw Mistake("has an @ in a parameter that libpq does not know")
    }
  }

  /// The port of a host; nil without one.
  private static func port(of host: Substring) throws(Mistake) -> Substring? {
    var rest = host[host.prefix(before: ":").endIndex...]
    if host.begins(with: "[") {
      rest = host[host.prefix(before: "]").endIndex...].withoutFirst
      let isClosed = host.has("]") && (rest.isEmpty || rest.begins(with: ":"))
      guard isClosed else { throw Mistake("has an address that begins with [ and does not end with ]") }
    }
    return rest.isEmpty ? nil : rest.withoutFirst
  }

  /// Nil for a broken escape.
  static func decoded(_ part: Substring) -> String? {
    let bytes = Array(part.utf8)
    return PercentEncoding.decode(bytes.span)
  }
}

extension DatabaseURLParts {
  /// The value of a parameter, decoded; the last one counts.
  func parameter(_ name: String) -> String? {
    parameters.last { Self.decoded($0.name) == name }.flatMap { Self.decoded($0.value) }
  }

  /// How many servers the URL names.
  var hostCount: Int {
    let more = ["host", "hostaddr"].compactMap(parameter)
    return ([String(hosts)] + more).map { $0.split(separator: ",").count }.max() ?? 0
  }
}

extension DatabaseURLParts.Parameter {
  /// Whether libpq knows the parameter and its value is not a secret. Names have no case here: a name that
  /// libpq refuses for its case may have a password, too.
  var isHarmless: Bool {
    DatabaseURLParts.decoded(name).map { Self.harmless.contains($0.lowercased()) } ?? false
  }

  /// Whether libpq knows the parameter.
  var isKnown: Bool {
    DatabaseURLParts.decoded(name).map { Self.harmless.contains($0) || Self.secret.contains($0) } ?? false
  }

  /// The known name that is the most similar; nil for a parameter that libpq knows, and without one.
  var suggestion: String? {
    guard !isKnown, let name = DatabaseURLParts.decoded(name) else { return nil }
    return EditDistance.nearest(to: name, among: Self.harmless.union(Self.secret).sorted())
  }

  /// Parameters whose values are passwords or keys.
  private static let secret: Set<String> = [
    "oauth_client_secret", "password", "scram_client_key", "scram_server_key", "sslpassword",
  ]

  /// The other parameters of libpq 18. `ssl` is one of JDBC that libpq accepts.
  private static let harmless: Set<String> = [
    "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname",
    "fallback_application_name", "gssdelegation", "gssencmode", "gsslib", "host", "hostaddr", "keepalives",
    "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts",
    "max_protocol_version", "min_protocol_version", "oauth_client_id", "oauth_issuer", "oauth_scope",
    "options", "passfile", "port", "replication", "require_auth", "requirepeer", "requiressl", "service",
    "servicefile", "ssl", "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcert", "sslcertmode",
    "sslcompression", "sslcrl", "sslcrldir", "sslkey", "sslkeylogfile", "sslmode", "sslnegotiation",
    "sslrootcert", "sslsni", "target_session_attrs", "tcp_user_timeout", "user",
  ]
}

/// Splitting by bytes. All separators are ASCII.
extension Substring {
  fileprivate func prefix(before stops: String) -> Substring {
    self[..<(utf8.firstIndex { stops.utf8.contains($0) } ?? endIndex)]
  }

  fileprivate var withoutFirst: Substring { isEmpty ? self : self[utf8.index(after: startIndex)...] }

  fileprivate func begins(with separator: String) -> Bool { utf8.starts(with: separator.utf8) }

  fileprivate func has(_ separator: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: separator)) }

  fileprivate func pieces(between separator: Unicode.Scalar) -> [Substring] {
    utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map { Substring($0) }
  }
}
