import JSON
import Platform
import Testing

@testable import Relay

@Suite struct ConfigurationTemplateTests {
  static let environment = Environment([
    "IOS_CLIENT_KEY": "k", "STRIPE_WEBHOOK_SECRET": "s", "STRIPE_API_KEY": "a", "PURCHASELY_API_KEY": "p",
  ])

  private func redacted(_ text: String) throws -> JSONValue {
    let content = FileContent(bytes: Array(text.utf8), mode: 0o600)
    return try ConfigurationLoader.read(
      content, path: "/r.json5", environment: Self.environment, secrets: .required
    )
    .configuration.redacted
  }

  /// The template with every stated default in force.
  private var stated: String {
    ConfigurationTemplate.text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let rest = line.drop { $0 == " " }
      guard rest.hasPrefix("//"), let first = rest.dropFirst(2).first, first != " " else {
        return String(line)
      }
      return String(rest.dropFirst(2))
    }.joined(separator: "\n")
  }

  private func paths(of value: JSONValue, _ path: String = "") -> Set<String> {
    guard case .object(let members) = value else { return [path] }
    return members.reduce(into: []) { $0.formUnion(paths(of: $1.value, "\(path).\($1.name)")) }
  }

  @Test func theTemplateLoadsWithoutFaultsOrWarnings() throws {
    let content = FileContent(bytes: Array(ConfigurationTemplate.text.utf8), mode: 0o644)
    let loaded = try ConfigurationLoader.read(
      content, path: "/r.json5", environment: Self.environment, secrets: .required)
    #expect(loaded.warnings.isEmpty)
    #expect(loaded.configuration.databasePath == "/var/lib/receiptd/receiptd.db")
  }

  @Test func everyDefaultThatTheTemplateStatesIsTheRealOne() throws {
    #expect(try redacted(stated) == redacted(ConfigurationTemplate.text))
  }

  @Test func theTemplateStatesEveryKey() throws {
    let value = try JSONValue(parsing: Array(stated.utf8), json5: true)
    #expect(try paths(of: value) == paths(of: redacted(stated)))
  }

  @Test func everyLineFitsATerminal() {
    for line in ConfigurationTemplate.text.split(separator: "\n") { #expect(line.count <= 120) }
  }
}
