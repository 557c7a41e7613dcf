// The conformance suite of the store: what a database engine must do so that the store's promises hold on it.
// Every suite in this folder runs on each engine in `TestEngine.all`; none of them knows which one that is. A
// new engine is added there, and passes them all. What only one engine has is tested in a folder of its own.

import Platform
import Store
import Testing

/// An engine, and what the suite needs of it beside what programs do.
struct TestEngine: Sendable, CustomTestStringConvertible {
  let name: String
  /// The engine of a database that is, or is to be, in a folder.
  let open: @Sendable (_ folder: String) -> any StoreEngine
  /// A connection that writes, as the store uses one. The database is there.
  let connect: @Sendable (_ folder: String) throws -> any EngineConnection
  /// Everything that is stored, as text, with bytes decoded.
  let dump: @Sendable (_ folder: String) throws -> String
  /// Makes every write of a connection fail in a way, until what it returns is called; those that the engine
  /// can be made to fail in.
  let failures:
    [StoreFault.Kind: @Sendable (_ folder: String, any EngineConnection) throws -> () throws -> Void]

  static let all = [sqlite]
  /// The engine that the running test is on.
  @TaskLocal static var current = sqlite

  var testDescription: String { name }
}

/// Runs each test of a suite once for each engine.
struct EveryEngine: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    for engine in TestEngine.all { try await TestEngine.$current.withValue(engine) { try await function() } }
  }

  /// Around each case of a test, and around nothing larger.
  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
}

extension Trait where Self == EveryEngine {
  /// The test is part of the conformance suite.
  static var everyEngine: Self { EveryEngine() }
}

extension EngineConnection {
  /// Runs a statement for its effect.
  func run(_ sql: String, _ values: [StoreValue] = []) throws(StoreFault) {
    try StoreConnection(self).prepare(sql).run(values)
  }
}
