// The id that identifies a request in logs and answers. Thread-safe.

public import HTTPServer
internal import Synchronization

/// Gives each request its id.
public final class RequestIDs: Sendable {
  public static let header = "X-Request-Id"
  public static let charactersMax = 128

  /// Random, so that ids of different runs differ; a counter distinguishes the requests of one run.
  private let run = UInt64.random(in: .min ... .max)
  private let count = Atomic<UInt64>(0)

  /// The id in the request's header, if it is well-formed (1–128 letters, digits, `-`, `_`, `.`); otherwise a
  /// new one.
  public func id(for head: RequestHead?) -> String {
    if let given = head?.header(Self.header), Self.isWellFormed(given) { return given }
    let number = count.add(1, ordering: .relaxed).newValue
    var text: [UInt8] = []
    text.reserveCapacity(36)
    text.append(contentsOf: "req_".utf8)
    Self.append(run, to: &text)
    Self.append(number, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// 16 hexadecimal digits.
  private static func append(_ number: UInt64, to text: inout [UInt8]) {
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: number >> shift) & 15
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  private static func isWellFormed(_ text: String) -> Bool {
    (1...charactersMax).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
