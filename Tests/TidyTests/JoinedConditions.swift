// Finds expectations with several conditions: when they fail, they do not show which one. Pure.

/// Conditions of `#expect` and `#require` that are joined by `&&`.
struct JoinedConditions {
  private let code: [UInt8]

  /// The lines on which such expectations begin.
  /// - Parameter code: Swift without comments and literals (`SwiftCode`).
  static func lines(in code: String) -> [Int] {
    // A cheap check first, because most files have no match.
    guard code.contains("&&") else { return [] }
    let scanner = JoinedConditions(code: Array(code.utf8))
    return code.matches(of: #/#(?:expect|require)\(/#).compactMap { found in
      let start = code.utf8.distance(from: code.startIndex, to: found.range.upperBound)
      return scanner.isJoined(from: start)
        ? code[..<found.range.lowerBound].utf8.count { $0 == UInt8(ascii: "\n") } + 1 : nil
    }
  }

  /// Whether the condition that begins here has `&&` outside of all brackets.
  private func isJoined(from start: Int) -> Bool {
    var depth = 0
    for index in start..<code.count {
      switch code[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        if depth == 0 { return false }
        depth -= 1
      case UInt8(ascii: ",") where depth == 0: return false
      case UInt8(ascii: "&") where depth == 0 && code[index...].starts(with: "&&".utf8): return true
      default: break
      }
    }
    return false
  }
}
