// receiptd accepts the example for production, and its secrets can be changed without a restart.

import FoundationEssentials
import Platform
import Testing

@testable import Config

@Suite struct ExampleConfigurationTests {
  /// Where the instructions store the secrets.
  static let folder = "/etc/receiptd/secrets"

  private static func example() throws -> String { try Repository.text(of: "deploy/receiptd.example.json5") }

  /// The secrets that the example names.
  private static func names() throws -> [String] {
    try example().matches(of: #/(?m)^ *[^\/]*"file:\/etc\/receiptd\/secrets\/(\w+)"/#).map { String($0.1) }
  }

  /// Runs `body` with the path of a copy of the example whose secrets are in a temporary folder.
  private func withExample(secrets names: [String], _ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      component: "relay-tidy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // If the removal fails, the system clears the folder.
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in names {
      let secret = Array("whsec_secret-\(name)\n".utf8)
      try FileWriting.create(folder.appending(component: name).path, secret, mode: 0o600)
    }
    let file = folder.appending(component: "receiptd.json5")
    try Data(Self.example().replacing(Self.folder, with: folder.path).utf8).write(to: file)
    try body(file.path)
  }

  @Test func `receiptd accepts the example without a warning`() throws {
    let names = try Self.names()
    #expect(!names.isEmpty)
    try withExample(secrets: names) { path in
      let loaded = try ConfigurationLoader.load(path: path)
      #expect(loaded.warnings.isEmpty)
      #expect(loaded.configuration.database == .file("/var/lib/receiptd/receiptd.db"))
    }
  }

  @Test func `Without its secrets the example is refused, once for each`() throws {
    try withExample(secrets: []) { path in
      let faults = #expect(throws: ConfigurationFaults.self) { try ConfigurationLoader.load(path: path) }
      let names = try Self.names()
      #expect(faults?.faults.count == names.count)
    }
  }

  @Test func `A reload reads every secret of the example and of the starter file again`() throws {
    let unit = try Repository.text(of: "deploy/systemd/receiptd.service")
    #expect(unit.matches(of: #/(?m)^LoadCredential=/#).isEmpty)
    for text in [try Self.example(), ConfigurationTemplate.text] {
      #expect(!text.contains("file:/run/credentials"))
      #expect(text.matches(of: #/"env:(?!NAME)/#).isEmpty)
    }
  }

  @Test func `The instructions write every secret that the example names, and no other`() throws {
    let readme = try Repository.text(of: "deploy/README.md")
    let written = readme.matches(of: #/> \/etc\/receiptd\/secrets\/(\w+) /#).map { String($0.1) }
    #expect(Set(written) == Set(try Self.names()))
  }

  @Test("systemctl reload reports the result: the unit asks receiptctl, with the configuration of the start")
  func unitReloadsThroughReceiptctl() throws {
    let unit = try Repository.text(of: "deploy/systemd/receiptd.service")
    let start = try #require(unit.firstMatch(of: #/(?m)^ExecStart=\/usr\/bin\/receiptd (--config \S+)$/#))
    #expect(unit.contains("\nExecReload=/usr/bin/receiptctl \(start.1) reload --process $MAINPID\n"))
  }
}
