// The list of fuzz targets. Each passes arbitrary bytes to the code that reads them in service, and checks
// the invariants. libFuzzer creates the bytes (`make fuzz`); `make torture` runs the stored inputs. Pure, so
// that findings are reproducible; thread-safe.

/// One entry point of untrusted input.
struct FuzzTarget: Sendable {
  /// The name of its folder in `Corpus`, and of its file in `Dictionaries` if it has one.
  let name: String
  /// Longer inputs are cut: they cost time and find nothing that shorter ones do not.
  let bytesMax: Int
  /// Throws a `FuzzFinding` when an invariant is violated. The caller checks that it returns and does not
  /// trap.
  let check: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, bytesMax: Int = 4096, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.bytesMax = bytesMax
    self.check = check
  }

  static let all: [FuzzTarget] = [
    .json, .json5, .display, .values, .signature, .event, .contextJSON, .contextForm, .plyContext, .request,
    .retryAfter, .answer, .configuration, .url, .commandLine, .association, .callback, .token, .keySet,
    .backend, .processorAnswer, .frame, .storePurchase,
  ]

  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A violated invariant.
struct FuzzFinding: Error, CustomStringConvertible {
  let description: String
}

/// Throws unless `condition` holds.
func hold(_ condition: Bool, _ what: @autoclosure () -> String) throws(FuzzFinding) {
  guard condition else { throw FuzzFinding(description: what()) }
}

/// The part before the first such byte and the part after it; everything and nothing without one.
func halves(_ bytes: [UInt8], at separator: UInt8) -> (first: [UInt8], rest: [UInt8]) {
  guard let index = bytes.firstIndex(of: separator) else { return (bytes, []) }
  return (Array(bytes[..<index]), Array(bytes[(index + 1)...]))
}

/// The first eight bytes as a number; missing ones are 0.
func leadingNumber(_ bytes: [UInt8]) -> Int64 {
  bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
}
