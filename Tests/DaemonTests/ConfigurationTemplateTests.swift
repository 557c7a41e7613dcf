import Formats
import FoundationEssentials
import Platform
import TestSupport
import Testing

@testable import Config

@Suite struct ConfigurationTemplateTests {
  /// Loads a text whose secrets are in existing files.
  private func load(_ text: String, mode: UInt32 = 0o600) throws -> LoadedConfiguration {
    let folder = try TestFolder()
    for match in ConfigurationTemplate.text.matches(of: #/file:\/etc\/receiptd\/secrets\/(\w+)/#) {
      let value = Array("whsec_\(match.1)_0123456789\n".utf8)
      try FileWriting.create(folder.file(String(match.1)), value, mode: 0o600)
    }
    let text = text.replacing("/etc/receiptd/secrets", with: folder.path)
    let content = FileContent(bytes: Array(text.utf8), mode: mode)
    return try ConfigurationLoader.read(
      content, path: "/r.json5", environment: Environment([:]), secrets: .required)
  }

  private func redacted(_ text: String) throws -> JSONValue {
    let folders = #/\/tmp\/receipt-relay-[^"\/]+/#
    let shown = try load(text).configuration.redacted.text.replacing(folders, with: "FOLDER")
    return try JSONValue(parsing: Array(shown.utf8))
  }

  @Test func `The starter file names no secret that only a restart reads again`() throws {
    #expect(
      try load(ConfigurationTemplate.text).configuration.secrets.allSatisfy { !$0.secret.isFixedUntilRestart }
    )
  }

  /// The template with every documented default set.
  private var stated: String {
    ConfigurationTemplate.text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let rest = line.drop { $0 == " " }
      guard rest.hasPrefix("//"), let first = rest.dropFirst(2).first, first != " " else {
        return String(line)
      }
      return String(rest.dropFirst(2))
    }.joined(separator: "\n")
  }

  @Test func theTemplateLoadsWithoutFaultsOrWarnings() throws {
    let loaded = try load(ConfigurationTemplate.text, mode: 0o644)
    #expect(loaded.warnings.isEmpty)
    #expect(loaded.configuration.database == .file("/var/lib/receiptd/receiptd.db"))
  }

  @Test func everyDefaultThatTheTemplateStatesIsTheRealOne() throws {
    #expect(try redacted(stated) == redacted(ConfigurationTemplate.text))
  }

  @Test("Without the marks of its comments, the starter file sets every key to its default or an example")
  func theTemplateStatesEveryKey() {
    // Lines wrap differently inside of a comment, also those of a list.
    func unmarked(_ text: String) -> String {
      text.split(separator: "\n").map { line in
        var rest = line.drop { $0 == " " }
        while rest.hasPrefix("//") { rest = rest.dropFirst(2).drop { $0 == " " } }
        return rest.filter { !" ,".contains($0) }
      }.joined()
    }
    let full = ConfigurationTemplate.text(.standard, isEveryKeySet: true)
    #expect(unmarked(ConfigurationTemplate.text) == unmarked(full))
  }

  @Test func everyLineFitsATerminal() {
    for line in ConfigurationTemplate.text.split(separator: "\n") { #expect(line.count <= 120) }
  }
}
