// Every limit of the HTTP client, in one place.

internal import Formats

/// The resources that a transfer may use, whatever the server sends.
public enum TransferLimits {
  /// Maximum bytes of an answer's body, unless the request sets its own limit. The transfer ends at the first
  /// byte over it.
  public static let bodyBytesMax = 64 * 1024
  /// Maximum header fields of the final answer. The transfer ends at the first field over it.
  public static let headersMax = 100
  /// Maximum bytes of the status lines, header fields and trailers of all answers to one request.
  public static let headerBytesMax = 64 * 1024
  /// Maximum interim (1xx) answers before the final one (RFC 9110 §15.2).
  public static let interimAnswersMax = 20
  /// The longest timeout of a transfer.
  public static let timeoutMax: Duration = .hours(1)
  /// The longest name lookup. It counts against no timeout.
  public static let lookupTimeout: Duration = .seconds(10)
  /// How long connections and addresses are used before they are replaced, so that a name that moves to
  /// another address is followed.
  public static let connectionLifetime: Duration = .minutes(1)
}
