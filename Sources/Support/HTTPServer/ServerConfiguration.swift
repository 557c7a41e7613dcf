// Every limit of the server, by name, in one place. Pure values.

internal import Formats
public import Platform

/// The addresses and limits of a server.
public struct ServerConfiguration: Sendable {
  /// A certificate chain and its private key, both PEM text. The key is never printed.
  public struct Identity: Sendable, Equatable, CustomStringConvertible {
    public var certificatePEM: String
    public var keyPEM: String

    public init(certificatePEM: String, keyPEM: String) {
      self.certificatePEM = certificatePEM
      self.keyPEM = keyPEM
    }

    public var description: String { "Identity(…)" }
  }

  /// A numeric IPv4 or IPv6 address. `::` accepts IPv4 as well; every other IPv6 address accepts IPv6 only.
  public var address: String
  /// 0 lets the system choose; `Server.port` is the result.
  public var port: UInt16
  /// The path of a Unix socket to listen on instead of the address and the port. Its owner and group may
  /// connect. A stale file, on which no process listens, is replaced.
  public var socketPath: String?
  /// A listening, non-blocking socket to use, instead of opening one at the address or the path. The server
  /// owns it and closes it; its file, if it has one, is not removed.
  public var inheritedSocket: InheritedSocket?
  /// Plain HTTP when nil.
  public var tls: Identity?
  /// Threads that serve connections.
  public var threads = 2
  /// Maximum number of open connections; more wait in the listening socket's backlog.
  public var connections = 2000
  /// The part of `connections` reserved for requests that the application lets use it
  /// (`RequestHandler.mayUseReserve`). A connection without a request in progress does not count.
  public var reservedConnections = 0
  /// Maximum number of open connections of one client (`AddressGroup`); more are closed as soon as they are
  /// accepted.
  public var connectionsPerAddress = 200
  /// Peers that serve many clients, such as a proxy. Their connections count only for the overall limit.
  public var unlimitedPeers: [AddressPrefix] = []
  /// The time for a whole request, from the accept of the connection, or on a kept-open connection, from the
  /// first byte of its request line. After it: 408. `limits.request_timeout` sets it for the public listener.
  public var requestTimeout: Duration = .seconds(10)
  /// How long a connection may be silent between requests. Rounded up to whole seconds, the unit of
  /// libmicrohttpd.
  public var idleTimeout: Duration = .seconds(60)
  /// How long a connection must have been idle before it is closed to make room for others (`Eviction`),
  /// unless the last places are taken. It is long enough for a TLS handshake and the following request on a
  /// slow network.
  var evictionGrace: Duration = .seconds(1)
  /// The limit for the memory of a request line and its header fields, in bytes: their length, 64 for each
  /// field and each cookie, and a copy of the cookies. libmicrohttpd itself answers 431 (or 414) when there
  /// is much more. It is enough for 60 cookies of 8 KiB together, which is what nginx passes on. The memory
  /// is cleared after each request.
  public var headerBytesMax = 24 * 1024
  /// The longest announced length of a refused body that is still read, so that the connection stays open.
  public var discardedBodyBytesMax: Int64 = 64 * 1024
  /// The limit in bytes for the bodies of all unanswered requests together. Bodies up to `smallBodyBytesMax`
  /// are not counted. One address may hold half of it. A request beyond the limit is refused as
  /// `Rejection.noRoom`.
  public var bodyBytesTotalMax = 64 << 20
  /// The length of the kernel's queue of connections not accepted yet (listen(2)).
  public var backlog: Int32 = 1024

  /// A body up to this length needs no budget, so small requests are served even when large ones use all of
  /// it.
  public static let smallBodyBytesMax = 64 * 1024

  public init(address: String, port: UInt16 = 0, tls: Identity? = nil) {
    self.address = address
    self.port = port
    self.tls = tls
  }

  /// The configured maximum, but at least one.
  var connectionsMax: Int { max(1, connections) }

  /// While more requests than this are in progress, only those that may use the reserve are served.
  var unreservedConnections: Int { max(1, connections - reservedConnections) }

  /// Half of the reserve, or of a tenth of all connections if that is more, stays free for new connections. A
  /// quarter of the reserve stays free even if that closes connections that were idle only for a moment.
  var eviction: Eviction {
    let room = max(reservedConnections, connections / 10)
    return Eviction(
      kept: max(1, connections - max(1, (room + 1) / 2)),
      urgent: max(1, connections - (reservedConnections + 3) / 4),
      grace: evictionGrace)
  }

  /// Whole seconds, at least one: 0 means "never" in libmicrohttpd.
  var idleTimeoutSeconds: UInt32 {
    UInt32(clamping: max(1, idleTimeout.secondsRoundedUp))
  }
}
