// Every limit of the HTTP client, in one place.

/// What a transfer may use at most, whatever the other side sends.
public enum TransferLimits {
  /// Bytes of an answer's body that are kept, unless the request allows another number; the transfer ends at
  /// the first one more.
  public static let bodyBytesMax = 64 * 1024
  /// Header fields of the final answer that are kept; the transfer ends at the first one more.
  public static let headersMax = 100
  /// Bytes of status lines, header fields and trailers of all answers to one request together.
  public static let headerBytesMax = 64 * 1024
  /// Interim (1xx) answers before the final one (RFC 9110 §15.2).
  public static let interimAnswersMax = 20
  /// The longest time that a transfer may be given, in milliseconds.
  public static let timeoutMillisecondsMax = 3_600_000
}
