// Why a server could not be started. Classified once, here.

public import Platform

/// Why a server could not be started.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// The path of a Unix socket cannot be used, and why.
  case invalidSocket(String)
  /// A system call on the listening socket failed: `bind` with `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, …
  case system(SystemError)
  /// TLS is asked for and this build of libmicrohttpd has none.
  case tlsUnavailable
  /// libmicrohttpd would not start; with what it said, for instance about the certificate.
  case refused(String)

  public var description: String {
    switch self {
    case .invalidAddress(let address): "\(address) is not a numeric IPv4 or IPv6 address"
    case .invalidSocket(let reason): reason
    case .system(let error): error.description
    case .tlsUnavailable: "libmicrohttpd was built without TLS"
    case .refused(let message): "libmicrohttpd: \(message)"
    }
  }
}
