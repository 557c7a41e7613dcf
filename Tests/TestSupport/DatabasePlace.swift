// Runs tests of whole programs once with a database in a file, and once with one on a server.

public import Testing

/// Where the database of the programs under test is.
public enum DatabasePlace: Sendable {
  case file
  /// The shared server of the tests. It does not sync, so the configuration must allow that.
  case server

  /// That of the running test.
  @TaskLocal public static var current = DatabasePlace.file

  /// Under a sanitizer only a file: what differs has its own tests.
  fileprivate static let all: [DatabasePlace] =
    PostgresServer.isExpected && !Sanitizer.isOn ? [.file, .server] : [.file]

  /// The URL of a new database; nil for a file.
  public static func makeURL() throws -> String? {
    guard current == .server else { return nil }
    let server = try PostgresServer.shared.get()
    return server.url(try server.makeDatabase())
  }
}

/// Runs each test of a suite once for each place.
public struct EveryPlace: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    for place in DatabasePlace.all {
      try await DatabasePlace.$current.withValue(place) { try await function() }
    }
  }

  /// Applies to each case of a test, and to nothing larger.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
}

/// Leaves the server out for one test of a suite with `everyPlace`.
public struct FileOnly: TestTrait, TestScoping {
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if DatabasePlace.current == .file { try await function() }
  }

  public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }
}

extension Trait where Self == FileOnly {
  /// The test damages the file, or what it expects has numbers of rows, the file, or a time of receiptctl,
  /// which on a server is the time of its clock.
  public static var fileOnly: Self { FileOnly() }
}

extension Trait where Self == EveryPlace {
  /// The test must not read the file, nor depend on numbers of rows.
  public static var everyPlace: Self { EveryPlace() }
}
