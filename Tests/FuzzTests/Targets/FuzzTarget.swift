// What is fuzzed, as one list: each target hands any bytes to the code that reads them in service, and checks
// what must hold whatever the bytes are. libFuzzer makes up the bytes (`make fuzz`); `make test` gives each
// target what is kept of them. Pure, so that a finding can be had again; any thread.

/// One door through which bytes come in from outside.
struct FuzzTarget: Sendable {
  /// The name of its folder in `Corpus`, and of its file in `Dictionaries` if it has one.
  let name: String
  /// Longer inputs are cut: they find nothing that shorter ones do not, and cost time.
  let bytesMax: Int
  /// Throws a `FuzzFinding` when something does not hold. That it ends, and does not trap, is checked by
  /// whoever calls it.
  let check: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, bytesMax: Int = 4096, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.bytesMax = bytesMax
    self.check = check
  }

  static let all: [FuzzTarget] = [
    .json, .json5, .display, .values, .signature, .event, .contextJSON, .contextForm, .plyContext, .request,
    .retryAfter, .answer, .configuration, .url, .commandLine, .association, .callback, .token, .keySet,
  ]

  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Something that must hold and does not.
struct FuzzFinding: Error, CustomStringConvertible {
  let description: String
}

/// Goes on only when `condition` holds.
func hold(_ condition: Bool, _ what: @autoclosure () -> String) throws(FuzzFinding) {
  guard condition else { throw FuzzFinding(description: what()) }
}

/// The first half up to a byte, and what stands behind it; everything and nothing when it is not there.
func halves(_ bytes: [UInt8], at separator: UInt8) -> (first: [UInt8], rest: [UInt8]) {
  guard let index = bytes.firstIndex(of: separator) else { return (bytes, []) }
  return (Array(bytes[..<index]), Array(bytes[(index + 1)...]))
}

/// The eight bytes at the front as a number; missing ones are 0.
func leadingNumber(_ bytes: [UInt8]) -> Int64 {
  bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
}
