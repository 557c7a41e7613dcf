// The error of a failed system call.

internal import Glibc

/// A failed system call: its name and its errno.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The number from errno(3).
  public let code: Int32
  /// The name of the failed call; never one of its arguments.
  public let operation: String
  /// The reason, where errno(3) has no number for it.
  private var explanation: String?

  public init(code: Int32, operation: String) {
    self.code = code
    self.operation = operation
  }

  /// The last error of this thread.
  public static func last(_ operation: String) -> SystemError {
    SystemError(code: errno, operation: operation)
  }

  /// A FIFO, a socket or a device was found where a regular file was expected.
  public static let notARegularFile: SystemError = {
    var error = SystemError(code: EINVAL, operation: "open")
    error.explanation = "Not a regular file"
    return error
  }()

  /// A signal requested the end of the process.
  public static let interrupted = SystemError(code: EINTR, operation: "restore")

  /// Another socket is bound to the address.
  public var isAddressInUse: Bool { code == EADDRINUSE }

  /// The user that the program runs as may not do that.
  public var isPermissionDenied: Bool { code == EACCES }

  /// The text of strerror(3), or the project's own explanation.
  public var reason: String {
    if let explanation { return explanation }
    var buffer = [UInt8](repeating: 0, count: 128)
    let code = code
    let failed = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        unsafe characters.baseAddress.map { unsafe strerror_r(code, $0, characters.count) } ?? ERANGE
      }
    }
    let text = failed == 0 ? String(validating: buffer.prefix { $0 != 0 }, as: UTF8.self) : nil
    return text ?? "error \(code)"
  }

  public var description: String { "\(operation): \(reason)" }
}
