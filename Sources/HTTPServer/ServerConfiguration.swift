// Every limit of the server, by name, in one place. Pure values.

public import Platform

/// Where a server listens and how much it takes.
public struct ServerConfiguration: Sendable {
  /// A certificate chain and its private key, both PEM text. The key is never printed.
  public struct Identity: Sendable, CustomStringConvertible {
    public var certificatePEM: String
    public var keyPEM: String

    public init(certificatePEM: String, keyPEM: String) {
      self.certificatePEM = certificatePEM
      self.keyPEM = keyPEM
    }

    public var description: String { "Identity(…)" }
  }

  /// A numeric IPv4 or IPv6 address. `::` takes IPv4 as well; every other IPv6 address takes IPv6 only.
  public var address: String
  /// 0 lets the system choose; `Server.port` says what it chose.
  public var port: UInt16
  /// The path of a Unix socket to listen on in place of the address and the port. Its file is readable and
  /// writable for its owner and group; one that nobody listens on any more is replaced.
  public var socketPath: String?
  /// Plain HTTP when nil.
  public var tls: Identity?
  /// Threads that serve connections.
  public var threads = 2
  /// Connections at once; more wait in the listening socket's backlog.
  public var connections = 2000
  /// Connections of these that only the requests use for which the application says so
  /// (`RequestHandler.mayUseReserve`). A connection without a request under way counts for none of them.
  public var reservedConnections = 0
  /// Connections at once from one client (`AddressGroup`); more are closed as soon as they are accepted.
  public var connectionsPerAddress = 200
  /// Peers that stand for many clients, such as a proxy in front: their connections are limited together
  /// with all others only.
  public var unlimitedPeers: [AddressPrefix] = []
  /// For a whole request, from the moment that the connection is accepted, or on a connection that was kept
  /// open, from the first byte of its request line. After it: 408.
  public var requestTimeoutMilliseconds: Int64 = 10_000
  /// How long a connection may be silent between requests; libmicrohttpd counts whole seconds, so it is
  /// rounded up.
  public var idleTimeoutMilliseconds: Int64 = 60_000
  /// How long a connection must have been idle before it is closed to make room for others (`Eviction`),
  /// unless the last places are taken. A TLS handshake and the request that follows it fit into this over a
  /// slow network.
  var evictionGraceMilliseconds: Int64 = 1000
  /// A request line and its header fields, in bytes. libmicrohttpd answers 431 (or 414) by itself when there
  /// are more.
  public var headerBytesMax = 32 * 1024
  /// A body that was refused is still read, so that the connection can go on, when it is announced to be this
  /// short.
  public var discardedBodyBytesMax: Int64 = 64 * 1024
  /// What the bodies of all requests may hold together until they are answered, in bytes; what is no longer
  /// than `smallBodyBytesMax` is not counted. One address may hold half of it. A request that finds nothing
  /// left is refused as `Rejection.noRoom`.
  public var bodyBytesTotalMax = 64 << 20
  /// The length of the kernel's queue of connections not accepted yet (listen(2)).
  public var backlog: Int32 = 1024

  /// A body up to this is taken as long as there are connections, so that small requests are served whatever
  /// the large ones hold.
  public static let smallBodyBytesMax = 64 * 1024

  public init(address: String, port: UInt16 = 0, tls: Identity? = nil) {
    self.address = address
    self.port = port
    self.tls = tls
  }

  /// At least one, whatever was configured.
  var connectionsMax: Int { max(1, connections) }

  /// While more requests than this are under way, only those that may use the reserve are served.
  var unreservedConnections: Int { max(1, connections - reservedConnections) }

  /// Half of the reserve stays free for those who connect, until they show what they want; or of a tenth of
  /// all connections, where that is more. A quarter of the reserve stays free even if connections have to be
  /// closed for it that were idle for a moment only.
  var eviction: Eviction {
    let room = max(reservedConnections, connections / 10)
    return Eviction(
      kept: max(1, connections - max(1, (room + 1) / 2)),
      urgent: max(1, connections - (reservedConnections + 3) / 4),
      graceMilliseconds: evictionGraceMilliseconds)
  }

  /// Whole seconds, at least one: 0 would mean "never" to libmicrohttpd.
  var idleTimeoutSeconds: UInt32 {
    UInt32(clamping: max(1, idleTimeoutMilliseconds / 1000 + (idleTimeoutMilliseconds % 1000 > 0 ? 1 : 0)))
  }
}
