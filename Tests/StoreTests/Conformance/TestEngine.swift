// The conformance suite of the store: what a database engine must do so that the store's promises hold. Every
// suite in this folder runs on each engine in `TestEngine.all`, and uses no engine directly. A new engine
// must be added there and pass all suites. Tests of one engine's own features are in a separate folder.

import Store
import TestSupport
import Testing

/// An engine, with what the suite needs in addition to a program's needs.
struct TestEngine: Sendable, CustomTestStringConvertible {
  let name: String
  /// Opens the engine of a database in a folder; the database need not exist.
  let open: @Sendable (_ folder: String) -> any StoreEngine
  /// Opens a connection that writes, as the store uses one. The database must exist.
  let connect: @Sendable (_ folder: String) throws -> any EngineConnection
  /// Returns all stored data as text, with bytes decoded.
  let dump: @Sendable (_ folder: String) throws -> String
  /// Makes every write of a connection fail with a kind of fault, until the returned closure is called.
  let failures:
    [StoreFault.Kind: @Sendable (_ folder: String, any EngineConnection) throws -> () throws -> Void]

  /// Deletes the database of a folder, where that is not in the folder.
  var remove: @Sendable (_ folder: String) -> Void = { _ in }

  /// How many random operations a test runs. Each is followed by some 30 checks, which cost a server a plan
  /// each.
  var randomSteps: Int { name == TestEngine.sqlite.name || Torture.isLong ? 250 : 50 }

  /// How often the invariants are checked: after this many commands.
  var commandsBetweenChecks: Int { name == TestEngine.sqlite.name || Torture.isLong ? 1 : 5 }

  /// Every order of the elements; every fifth on a server, where a store costs ten times as much. What an
  /// order may break are the rules, which are the same.
  static func orders<Element>(_ elements: [Element]) -> [[Element]] {
    let all = permutations(elements)
    guard current.name != sqlite.name, !Torture.isLong else { return all }
    return stride(from: 0, to: all.count, by: 5).map { all[$0] }
  }

  /// PostgreSQL where it is installed. Under a sanitizer only SQLite: the code that differs has its own
  /// tests.
  static let all = PostgresServer.isExpected && !Sanitizer.isOn ? [sqlite, postgres] : [sqlite]
  /// The engine of the running test.
  @TaskLocal static var current = sqlite

  var testDescription: String { name }
}

/// Runs each test of a suite once for each engine.
struct EveryEngine: SuiteTrait, TestTrait, TestScoping {
  /// Threads of the engines have their own tests.
  private static let hasRaces = ConditionTrait.disabled(
    if: Sanitizer.findsRaces, "a store is used by one thread")

  var isRecursive: Bool { true }

  func prepare(for test: Test) async throws { try await Self.hasRaces.prepare(for: test) }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    for engine in TestEngine.all { try await TestEngine.$current.withValue(engine) { try await function() } }
  }

  /// Applies to each case of a test, and to nothing larger.
  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
}

extension Trait where Self == EveryEngine {
  /// Marks a test as part of the conformance suite.
  static var everyEngine: Self { EveryEngine() }
}

extension EngineConnection {
  /// Runs a statement and ignores its rows.
  func run(_ sql: String, _ values: [StoreValue] = []) throws(StoreFault) {
    try StoreConnection(self).prepare(sql).run(values)
  }
}
