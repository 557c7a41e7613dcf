// HTTP requests as values. Pure.

internal import Formats

/// One header field of a request or of an answer (RFC 9110 §5).
public struct TransferHeader: Sendable, Equatable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One HTTP request.
public struct TransferRequest: Sendable, Equatable {
  /// The methods that the relay uses.
  public enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case patch = "PATCH"

    var hasBody: Bool { self != .get }
  }

  public var method: Method
  /// https, or http to a loopback address; without a user or a password.
  public var url: String
  /// Sent in this order. Content-Length, Transfer-Encoding and Expect are refused.
  public var headers: [TransferHeader]
  /// Not sent with `get`.
  public var body: [UInt8]
  /// The timeout from `start` to the last byte of the answer, without the name lookup, which has
  /// `TransferLimits.lookupTimeout`. Clamped to 1 ms to `TransferLimits.timeoutMax`.
  public var timeout: Duration
  /// The timeout for TCP and TLS together, from the end of the name lookup. Clamped to the same range.
  public var connectTimeout: Duration
  /// Whether to make a new connection and to look the name up again, also if a connection is kept.
  public var wantsFreshConnection = false
  /// A PEM file with the only trusted authorities for the server's certificate; nil for the system's.
  public var certificateAuthorityFile: String?
  /// PEM files with the client's certificate and its key, for a server that asks for one; both nil for none.
  public var clientCertificateFile: String?
  public var clientKeyFile: String?
  /// Maximum bytes of the answer's body. The transfer ends at the first byte over it.
  public var answerBytesMax: Int

  public init(
    method: Method, url: String, headers: [TransferHeader] = [], body: [UInt8] = [],
    timeout: Duration = .seconds(10), connectTimeout: Duration = .seconds(3),
    certificateAuthorityFile: String? = nil, answerBytesMax: Int = TransferLimits.bodyBytesMax
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.certificateAuthorityFile = certificateAuthorityFile
    self.answerBytesMax = answerBytesMax
  }
}

extension TransferRequest {
  /// Whether two requests differ at most in their bodies.
  func differsOnlyInBody(from other: TransferRequest) -> Bool {
    method == other.method && url == other.url && headers == other.headers
      && certificateAuthorityFile == other.certificateAuthorityFile
      && clientCertificateFile == other.clientCertificateFile && clientKeyFile == other.clientKeyFile
  }

  var withoutBody: TransferRequest {
    var copy = self
    copy.body = []
    return copy
  }
}

extension TransferHeader {
  /// Only libcurl sets the framing; a second, conflicting field allows request smuggling (RFC 9112 §11.2).
  private static let framingNames: Set<String> = ["content-length", "transfer-encoding", "expect"]

  /// Whether the field can be sent unchanged: the name is a token, the value has no line break or other
  /// control character (RFC 9110 §5.5, §5.6.2), and the field does not describe the framing.
  var isSendable: Bool {
    !name.isEmpty && name.utf8.allSatisfy(TransferHeader.isTokenByte)
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
      && !TransferHeader.framingNames.contains(name.lowercased())
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

// MARK: - TransferLimits

// Every limit of the HTTP client, in one place.

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
