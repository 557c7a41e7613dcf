// The files in deploy/ for Prometheus and Grafana match receiptd's metrics.

import Domain
import Formats
import FoundationEssentials
import TestSupport
import Testing

@Suite(.withDaemonLog) struct MonitoringTests {
  private static func path(_ name: String) -> String { "\(Program.repository)/\(name)" }

  /// Runs promtool (Debian's package `prometheus`). Without it, only `.ci/run` makes this check.
  private static func promtool(_ arguments: [String], input: String? = nil) throws -> (
    code: Int32, output: String
  ) {
    let directory = try TestFolder()
    var words = ["promtool"] + arguments
    if let input {
      try directory.write(input, to: "input")
      words = ["sh", "-c", "promtool \(arguments.joined(separator: " ")) < \(directory.file("input"))"]
    }
    let process = try ChildProcess(words, output: directory.file("output"))
    return (try process.end(), TextFile.read(directory.file("output")))
  }

  private static let hasPromtool: Bool = {
    // If it cannot be started it is missing.
    guard let found = try? promtool(["--version"]) else { return false }
    return found.code == 0
  }()

  @Test("Prometheus accepts a real scrape, which has every metric of the rules and the dashboard")
  func scrape() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("scraped")
      destination.answer(.status(500))
      try relay.buy(checkout)
      try relay.reaches(.delivered, checkout.subscription)
      let text = try relay.admin.request("GET", "/metrics").text
      let families = Set(
        text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
          String($0.split(separator: " ")[2])
        })
      #expect(families.count >= 20)
      for name in try Self.namedMetrics() {
        let family =
          ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) && !families.contains(name) }
          .map { String(name.dropLast($0.count)) } ?? name
        #expect(families.contains(family), "\(name) is in no scrape")
      }
      // Each metric is documented, too.
      let manual = TextFile.read(Self.path("docs/metrics.md"))
      for family in families { #expect(manual.contains("`\(family)"), "docs/metrics.md lacks \(family)") }
      if Self.hasPromtool {
        let (code, output) = try Self.promtool(["check", "metrics"], input: text)
        #expect(code == 0, "\(output)")
      }
      #expect(try relay.metric("receiptd_ready") == 1)
      #expect(try relay.metric("receiptd_disk_free_bytes") ?? 0 > 0)
      #expect(try relay.metric(#"receiptd_database_bytes{file="database"}"#) ?? 0 > 0)
    }
  }

  /// Every metric that the rules and the dashboard use.
  private static func namedMetrics() throws -> Set<String> {
    let rules = TextFile.read(path("deploy/prometheus/alerts.yml"))
    let dashboard = try JSONValue(parsing: Array(TextFile.read(path("deploy/grafana/receiptd.json")).utf8))
    var texts = rules.split(separator: "\n").filter {
      !$0.contains("summary:") && !$0.contains("description:")
    }
    .map(String.init)
    texts += strings(of: "expr", in: dashboard) + strings(of: "query", in: dashboard)
    let names = texts.flatMap { text in
      text.matches(of: /\b(?:receiptd|process)_[a-z_]+\b/).map { String($0.output) }
    }
    #expect(Set(names).count > 20)
    return Set(names)
  }

  /// The strings of all members with that name.
  private static func strings(of name: String, in value: JSONValue) -> [String] {
    switch value {
    case .array(let elements): elements.flatMap { strings(of: name, in: $0) }
    case .object(let members):
      members.flatMap { member in
        member.name == name
          ? member.value.stringValue.map { [$0] } ?? strings(of: name, in: member.value)
          : strings(of: name, in: member.value)
      }
    default: []
    }
  }

  @Test("The dashboard asks the data source that its reader chose, and no panel covers another")
  func dashboard() throws {
    let dashboard = try JSONValue(
      parsing: Array(TextFile.read(Self.path("deploy/grafana/receiptd.json")).utf8))
    guard case .array(let panels) = dashboard["panels"] else { return #expect(Bool(false), "no panels") }
    #expect(panels.count > 20)
    var taken: Set<[Int64]> = []
    for panel in panels {
      guard case .integer(let x) = panel["gridPos"]?["x"], case .integer(let y) = panel["gridPos"]?["y"],
        case .integer(let width) = panel["gridPos"]?["w"], case .integer(let height) = panel["gridPos"]?["h"]
      else { return #expect(Bool(false), "a panel without a place") }
      #expect(x + width <= 24)
      for column in x..<(x + width) {
        for line in y..<(y + height) { #expect(taken.insert([column, line]).inserted, "\(panel.text)") }
      }
      guard panel["type"] != "row" else { continue }
      #expect(panel["datasource"]?["uid"] == "${datasource}")
    }
  }

  @Test(.enabled(if: hasPromtool, "promtool is not there (Debian: prometheus)"))
  func `The alerting rules fire when they should, and not before`() throws {
    for arguments in [
      ["check", "rules", Self.path("deploy/prometheus/alerts.yml")],
      ["check", "config", Self.path("deploy/prometheus/prometheus.yml")],
      ["test", "rules", Self.path("deploy/prometheus/alerts_test.yml")],
    ] {
      let (code, output) = try Self.promtool(arguments)
      #expect(code == 0, "\(output)")
    }
  }
}
