// What the fuzzer has taught: every input that is kept, past findings among them, and seeded mutations of
// them, so that the targets hold without libFuzzer, too.

import FoundationEssentials
import Platform
import TestSupport
import Testing

/// The inputs in `Corpus`, a folder for each target.
private enum Corpus {
  static let folder =
    String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)) + "/Corpus"

  /// In the order of their names, so that a seed always means the same.
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
  @Test("Everything that the fuzzer is known to have tried holds", arguments: FuzzTarget.all)
  func keptInputsHold(_ target: FuzzTarget) throws {
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

  @Test("The corpus has a folder for each target, and no other")
  func corpusIsWhole() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Corpus.folder)
    #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
  }

  @Test("Mutations of it hold")
  func mutationsHold() throws {
    let first = Torture.seed(1)
    let count = Torture.size(short: 150, long: 3_000)
    var executions = 0
    for target in FuzzTarget.all {
      let inputs = try Corpus.inputs(target).map(\.bytes)
      for seed in first..<(first + UInt64(count)) {
        // What traps leaves only this behind.
        if seed % 1000 == first { print("\(target.name): mutations from seed \(seed) on") }
        var mutation = Mutation(inputs, bytesMax: target.bytesMax, seed: seed)
        let bytes = mutation.next()
        executions += 1
        do {
          try target.check(bytes)
        } catch {
          Issue.record(
            "\(target.name), again with TORTURE_SEED=\(seed): \(error)\n\(Data(bytes).base64EncodedString())")
        }
      }
    }
    Torture.report("mutated corpus", "seed", first)
    Torture.report("mutated corpus", "executions", executions)
  }
}
