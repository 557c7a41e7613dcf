// The example for production is one that receiptd takes, and the service hands it the secrets that it names.

import FoundationEssentials
import Relay
import Testing

@Suite struct ExampleConfigurationTests {
  /// Where systemd puts the service's credentials.
  static let credentials = "/run/credentials/receiptd.service"

  private static func example() throws -> String { try Repository.text(of: "deploy/receiptd.example.json5") }

  /// The credentials that the example names.
  private static func names() throws -> [String] {
    try example().matches(of: #/"file:\/run\/credentials\/receiptd\.service\/(\w+)"/#).map { String($0.1) }
  }

  /// Runs `body` with the path of the example, its credentials moved to a folder of its own.
  private func withExample(credentials names: [String], _ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      component: "relay-tidy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // What cannot be removed is the system's to clear.
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in names { try Data("secret-\(name)\n".utf8).write(to: folder.appending(component: name)) }
    let file = folder.appending(component: "receiptd.json5")
    try Data(Self.example().replacing(Self.credentials, with: folder.path).utf8).write(to: file)
    try body(file.path)
  }

  @Test("receiptd takes the example without a remark")
  func isTaken() throws {
    let names = try Self.names()
    #expect(!names.isEmpty)
    try withExample(credentials: names) { path in
      let loaded = try ConfigurationLoader.load(path: path)
      #expect(loaded.warnings.isEmpty)
      #expect(loaded.configuration.databasePath == "/var/lib/receiptd/receiptd.db")
    }
  }

  @Test("Without its credentials the example is refused, once for each")
  func needsItsCredentials() throws {
    try withExample(credentials: []) { path in
      let faults = #expect(throws: ConfigurationFaults.self) { try ConfigurationLoader.load(path: path) }
      let names = try Self.names()
      #expect(faults?.faults.count == names.count)
    }
  }

  @Test("The service hands over every credential that the example names, and no other")
  func serviceLoadsCredentials() throws {
    let unit = try Repository.text(of: "deploy/systemd/receiptd.service")
    let loaded = unit.matches(of: #/(?m)^LoadCredential=(\w+):/#).map { String($0.1) }
    let named = try Self.names()
    #expect(Set(loaded) == Set(named))
  }
}
