// The name of this machine (gethostname(2)). Thread-safe.

internal import Glibc

/// Reads the name of this machine.
public enum HostName {
  /// The host name; `localhost` when it cannot be read.
  public static func current() -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let isKnown = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { text in
        unsafe text.baseAddress.map { unsafe gethostname($0, text.count - 1) == 0 } ?? false
      }
    }
    let name = String(validating: buffer.prefix { $0 != 0 }, as: UTF8.self)
    return isKnown ? name.flatMap { $0.isEmpty ? nil : $0 } ?? "localhost" : "localhost"
  }
}
