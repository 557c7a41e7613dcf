// Runs every stored fuzzer input, past findings among them, and seeded mutations of them, so that the targets
// are also tested without libFuzzer.

import Formats
import FoundationEssentials
import TestSupport
import Testing

/// The inputs in `Corpus`, a folder for each target.
private enum Corpus {
  static let folder =
    String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)) + "/Corpus"

  /// Sorted by name, so that a seed is reproducible.
  static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(target.name)").sorted()
    return try names.map { name in
      let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(target.name)/\(name)"))
      return (name, Array(bytes))
    }
  }
}

extension FuzzTarget: CustomTestStringConvertible {
  var testDescription: String { name }
}

@Suite struct FuzzCorpusTorture {
  @Test(arguments: FuzzTarget.all)
  func `Every input of the corpus passes`(_ target: FuzzTarget) throws {
    let inputs = try Corpus.inputs(target)
    #expect(!inputs.isEmpty)
    for (name, bytes) in inputs {
      do {
        try target.check(Array(bytes.prefix(target.bytesMax)))
      } catch {
        Issue.record("Corpus/\(target.name)/\(name): \(error)")
      }
    }
  }

  @Test func `The corpus has a folder for each target, and no other`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Corpus.folder)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }

  @Test func `Mutations of the corpus pass`() throws {
    let first = Torture.seed(1)
    let count = Torture.size(short: 150, long: 3_000)
    var executions = 0
    for target in FuzzTarget.all {
      let inputs = try Corpus.inputs(target).map(\.bytes)
      for seed in first..<(first + UInt64(count)) {
        // After a trap, this line is the only trace.
        if seed % 1000 == first { print("\(target.name): mutations from seed \(seed) on") }
        var mutation = Mutation(inputs, bytesMax: target.bytesMax, seed: seed)
        let bytes = mutation.next()
        executions += 1
        do {
          try target.check(bytes)
        } catch {
          Issue.record("\(target.name), again with TORTURE_SEED=\(seed): \(error)\n\(Base64.encode(bytes))")
        }
      }
    }
    Torture.report("mutated corpus", "seed", first)
    Torture.report("mutated corpus", "executions", executions)
  }
}
