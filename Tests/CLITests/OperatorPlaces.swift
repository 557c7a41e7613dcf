// Runs tests of receiptctl once with a database in a file, and once with one on a server. End-to-end tests
// have the same trait: only test targets can import Testing.

import TestSupport
import Testing

/// Runs each test of a suite once for each `DatabasePlace`.
struct EveryPlace: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws { try await DatabasePlace.forEach(function) }

  /// Applies to each case of a test, and to nothing larger.
  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
}

extension Trait where Self == EveryPlace {
  /// The test must not read the file.
  static var everyPlace: Self { EveryPlace() }
}

/// Leaves the server out for one test of a suite with `everyPlace`.
struct FileOnly: TestTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if DatabasePlace.current == .file { try await function() }
  }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
}

extension Trait where Self == FileOnly {
  /// The test damages the file, or what it expects has numbers of rows, the file, or a time of receiptctl,
  /// which on a server is the time of its clock.
  static var fileOnly: Self { FileOnly() }
}
