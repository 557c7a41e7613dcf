// The errors of starting a server.

public import Platform

/// Why a server could not be started.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Not a numeric IPv4 or IPv6 address.
  case invalidAddress(String)
  /// The path of a Unix socket cannot be used, and why.
  case invalidSocket(String)
  /// A system call on the listening socket failed: `bind` with `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, …
  case system(SystemError)
  /// TLS is configured, but this build of libmicrohttpd does not support it.
  case tlsUnavailable
  /// libmicrohttpd did not start; with its message, for example about the certificate.
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
