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
          .list(of: .network, count: ConfigurationLimits.proxies, "addresses"),
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
    /// Required for everything but health and readiness. Always set when other machines can reach the
    /// listener.
    public var password: Secret?

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
          "Password for everything except /healthz and /readyz. Required on an address that other "
            + "machines can reach."
        ).then { admin, reader, _ in admin.report(reader) },
      ])

    /// A shorter password causes a warning: anyone who reaches the listener can guess.
    private static let passwordBytesMin = 12

    private func report(_ reader: ObjectReader) {
      let isOnSocket = reader.has("socket")
      if isOnSocket, reader.has("address") || reader.has("port") {
        reader.collector.fault(
          reader.path(of: "socket"), "cannot be combined with an address or a port; keep one of them")
      }
      reportOpenDoor(reader, isOnSocket: isOnSocket)
      // An unreadable password is not checked here; the daemon reports it.
      if let length = (try? password?.reveal())?.utf8.count, length < Self.passwordBytesMin {
        reader.collector.warning(
          reader.path(of: "password"),
          "is short; take \(Self.passwordBytesMin) characters or more, such as from: openssl rand -base64 18")
      }
    }

    /// The dashboard shows who bought what and can send receipts again, so it must not be open to a whole
    /// network.
    private func reportOpenDoor(_ reader: ObjectReader, isOnSocket: Bool) {
      guard !isOnSocket, !reader.has("password"), let address = IPAddress(address), !address.isLoopback else {
        return
      }
      reader.collector.fault(
        reader.path(of: "password"),
        "is missing, and admin.address lets others than this machine in; set a password (\"env:NAME\" or "
          + "\"file:/path\"), listen on \"127.0.0.1\", or use admin.socket")
    }
  }
}
