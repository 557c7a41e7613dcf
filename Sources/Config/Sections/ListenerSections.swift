// The two listeners of receiptd. Keys are read as by ConfigurationReader: one thread, every fault.

internal import Formats
public import Platform

extension Configuration {
  /// The public listener, for apps and webhooks.
  public struct Listen: Sendable, Equatable {
    /// A numeric IPv4 or IPv6 address.
    public var address = "127.0.0.1"
    /// 0: the system chooses a free port.
    public var port: UInt16 = 8080
    public var tls: TLS?
    /// The proxies whose X-Forwarded-For is trusted.
    public var proxies = ["127.0.0.1", "::1"].compactMap(AddressPrefix.init)

    static let section = ConfigurationSection(
      Self(),
      [
        .key("address", \.address, .address, "Listen address."),
        .key("port", \.port, .port, "Listen port. With 0 the system chooses one."),
        .optional(
          "tls", \.tls, .section(Configuration.TLS.section),
          "TLS certificate and key, unless a proxy in front of receiptd terminates TLS. A reload reads both "
            + "again."),
        .key(
          "proxies", \.proxies,
          .list(of: .network, count: KeyRanges.proxies, "addresses"),
          "Trusted proxies, whose X-Forwarded-For is believed: addresses, or networks such as "
            + "\"10.0.0.0/8\"."),
      ])
  }

  /// The listener's certificate and key, as paths of PEM files.
  public struct TLS: Sendable, Equatable {
    /// The certificate and its chain.
    public var certificatePath: String
    public var keyPath: String

    private static let advice = "TLS needs both certificate and key, as paths of PEM files"

    static let section = ConfigurationSection(
      Self(certificatePath: "", keyPath: ""),
      [
        .required(
          "certificate", \.certificatePath, .pemFile, example: "/path/fullchain.pem", advice: advice,
          "The certificate and its chain."),
        .required(
          "key", \.keyPath, .pemFile, example: "/path/privkey.pem", advice: advice,
          "The private key of the certificate."),
      ])
  }

  /// The listener for health, metrics and the dashboard.
  public struct Admin: Sendable, Equatable {
    /// A numeric IPv4 or IPv6 address.
    public var address = "127.0.0.1"
    /// 0: the system chooses a free port.
    public var port: UInt16 = 8081
    /// The path of a Unix socket to listen on instead of the address and the port.
    public var socketPath: String?
    /// The password of an operator with any name that is in neither list.
    public var password: Secret?
    /// Users who see everything but personal bodies and destinations' answers, and change nothing.
    public var viewers: [User] = []
    public var operators: [User] = []
    /// The proxies whose X-Remote-User stands in for a password.
    public var proxies: [AddressPrefix] = []

    /// Whether requests need a password or a token, except for health and readiness. Always true when other
    /// machines can reach the listener.
    public var hasLogin: Bool { password != nil || !viewers.isEmpty || !operators.isEmpty }

    static let section = ConfigurationSection(
      Self(),
      rules: [
        "not": ["required": ["socket"], "anyOf": [["required": ["address"]], ["required": ["port"]]]]
      ],
      [
        .key("address", \.address, .address, "Listen address."),
        .key("port", \.port, .port, "Listen port. With 0 the system chooses one."),
        .optional(
          "socket", \.socketPath, .file, example: "/run/receiptd/admin.sock",
          "Path of a Unix socket to listen on instead of an address and a port. Everyone who may open "
            + "the file has access."),
        .optional(
          "password", \.password, .secret, example: "file:/etc/receiptd/secrets/admin_password",
          "Password for everything except /healthz and /readyz, with any user name that viewers and "
            + "operators do not have. Anyone who knows it is an operator. Without users, required on an "
            + "address that other machines can reach."),
        .key(
          "viewers", \.viewers, User.list("bob"),
          "Users who see everything but personal bodies (ply_context, receipts, events, answers of "
            + "destinations), and change nothing."),
        .key("operators", \.operators, User.list("anna"), "Users who may do everything."),
        .key(
          "proxies", \.proxies, .list(of: .network, count: KeyRanges.proxies, "addresses"),
          "Addresses or networks of proxies that have checked who the user is: their X-Remote-User, the "
            + "name of a viewer or an operator, stands in for the password (from this machine with Via, "
            + "which web pages cannot send). They must remove this header field from what clients send."
        ).then { admin, reader, _ in admin.report(reader) },
      ])

    /// A user of the dashboard and of the API.
    public struct User: Sendable, Equatable {
      /// In the audit.
      public var name: String
      /// For the dashboard.
      public var password: Secret?
      /// For programs.
      public var token: Secret?

      /// - Parameter example: a name, for examples.
      fileprivate static func list(_ example: String) -> ValueForm<[User]> {
        .list(
          of: .section(section(example)), count: 0...100, "users", isSame: { $0.name == $1.name },
          twin: { "has the name of \($0); take one of them out" })
      }

      private static func section(_ example: String) -> ConfigurationSection<User> {
        let secrets = "file:/etc/receiptd/secrets/\(example)"
        return ConfigurationSection(
          Self(name: ""),
          [
            .required(
              "name", \.name, .userName, example: .string(example), advice: "name the user",
              "The name, which the audit keeps."),
            .optional(
              "password", \.password, .secret, example: .string("\(secrets)_password"),
              "The password for the dashboard and /metrics (HTTP Basic)."
            ).then { user, reader, _ in Admin.warnIfShort(user.password, reader) },
            .optional(
              "token", \.token, .secret, example: .string("\(secrets)_token"),
              "The token for programs, \(tokenBytesMin) characters or more, which they send as "
                + "\"Authorization: Bearer TOKEN\"."
            ).then { user, reader, _ in user.reportShortToken(reader) },
          ])
      }

      /// Guesses of tokens are not counted, so that nobody can lock a program out.
      private static let tokenBytesMin = 24

      private func reportShortToken(_ reader: ObjectReader) {
        guard let length = (try? token?.reveal())?.utf8.count, length < Self.tokenBytesMin else { return }
        reader.collector.fault(
          reader.path(of: "token"),
          "is short; take \(Self.tokenBytesMin) characters or more, such as from: openssl rand -base64 24")
      }
    }

    /// A shorter password causes a warning: anyone who reaches the listener can guess.
    private static let passwordBytesMin = 12

    private func report(_ reader: ObjectReader) {
      let isOnSocket = reader.has("socket")
      if isOnSocket, reader.has("address") || reader.has("port") {
        reader.collector.fault(
          reader.path(of: "socket"), "cannot be combined with an address or a port; keep one of them")
      }
      if isOnSocket, !proxies.isEmpty {
        reader.collector.fault(
          reader.path(of: "proxies"), "has no effect on admin.socket; listen on an address, or take it out")
      }
      reportOpenDoor(reader, isOnSocket: isOnSocket)
      Self.warnIfShort(password, reader)
      reportUsers(reader)
    }

    /// An unreadable password is not checked here; the daemon reports it.
    private static func warnIfShort(_ password: Secret?, _ reader: ObjectReader) {
      guard let length = (try? password?.reveal())?.utf8.count, length < passwordBytesMin else { return }
      reader.collector.warning(
        reader.path(of: "password"),
        "is short; take \(passwordBytesMin) characters or more, such as from: openssl rand -base64 18")
    }

    private func reportUsers(_ reader: ObjectReader) {
      let named = [("viewers", viewers), ("operators", operators)].flatMap { list, users in
        users.enumerated().map { (path: "\(reader.path(of: list))[\($0.offset)]", user: $0.element) }
      }
      for (path, user) in named where proxies.isEmpty && user.password == nil && user.token == nil {
        reader.collector.fault(path, "has no way in; give it a password, or a token, or name admin.proxies")
      }
      var owners: [String: String] = [:]
      for (path, user) in named {
        guard let token = try? user.token?.reveal() else { continue }
        if let owner = owners[token] {
          reader.collector.fault("\(path).token", "is the token of \(owner), too; each user needs its own")
        }
        owners[token] = path
      }
      let names = Set(viewers.map(\.name))
      for (path, user) in named.dropFirst(viewers.count) where names.contains(user.name) {
        reader.collector.fault(path, "has the name of a viewer; take one of them out")
      }
      if named.isEmpty, !proxies.isEmpty {
        reader.collector.fault(
          reader.path(of: "proxies"), "needs viewers or operators, whose names the proxies say; add them")
      }
    }

    /// The dashboard shows who bought what and can send receipts again, so it must not be open to a whole
    /// network.
    private func reportOpenDoor(_ reader: ObjectReader, isOnSocket: Bool) {
      guard !isOnSocket, !reader.has("password"), !hasLogin, let address = IPAddress(address),
        !address.isLoopback
      else { return }
      reader.collector.fault(
        reader.path(of: "password"),
        "is missing, and admin.address lets others than this machine in; set a password (\"env:NAME\" or "
          + "\"file:/path\") or operators, listen on \"127.0.0.1\", or use admin.socket")
    }
  }
}

extension ValueForm<String> {
  /// The name of a user of the admin listener. HTTP Basic allows no colon.
  fileprivate static var userName: ValueForm {
    ValueForm(
      "a name", mustBe: "a name of 1 to 64 letters, digits and . _ @ -, such as anna", isText: true,
      schema: .pattern("^[A-Za-z0-9._@-]{1,64}$"), show: JSONValue.string
    ) { $0.stringValue.flatMap { $0.wholeMatch(of: /[A-Za-z0-9._@-]{1,64}/) == nil ? nil : $0 } }
  }
}
