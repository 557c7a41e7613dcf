// Where the database of the programs under test is: in a file, or on a server.

/// The place of a database.
public enum DatabasePlace: Sendable {
  case file
  /// The shared server of the tests. It does not sync, so the configuration must allow that.
  case server

  /// That of the running test.
  @TaskLocal public static var current = DatabasePlace.file

  /// Under a sanitizer only a file: what differs has its own tests.
  public static let hasServer = PostgresServer.isExpected && !Sanitizer.isOn
  private static let all: [DatabasePlace] = hasServer ? [.file, .server] : [.file]

  /// Runs a test once for each place.
  public static func forEach(_ test: @concurrent @Sendable () async throws -> Void) async throws {
    for place in all { try await $current.withValue(place) { try await test() } }
  }

  /// The URL of a new database; nil for a file.
  public static func makeURL() throws -> String? {
    guard current == .server else { return nil }
    let server = try PostgresServer.shared.get()
    return server.url(try server.makeDatabase())
  }
}
