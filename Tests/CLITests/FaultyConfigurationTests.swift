// A configuration with faults, while receiptd runs on with the one that it has.

import Domain
import Formats
import Terminal
import Testing

@Suite("A configuration with faults") struct FaultyConfigurationTests {
  /// One fault of each kind: a wrong value, an unknown key in an app, and a text that is not JSON5.
  private static let faults: [@Sendable (String) -> String] = [
    { $0.replacing("listen: { port: 1 }", with: "listen: { port: 'x' }") },
    { $0.replacing("client: 'open'", with: "clients: 'open'") },
    { $0.replacing("client: 'open',", with: "client: 'open' ") },
  ]

  private static func harness(_ fault: (String) -> String) throws -> OperatorHarness {
    let harness = try OperatorHarness()
    try harness.fail(try harness.purchase("sub_1"))
    try harness.configure(fault)
    return harness
  }

  @Test(arguments: faults.indices)
  func `One typo in the configuration does not blind receiptctl`(fault: Int) throws {
    let harness = try Self.harness(Self.faults[fault])
    let commands = [
      ["stats"], ["apps", "list"], ["receipts", "list", "--app", "ios"], ["failures", "list"],
      ["events", "list"], ["alerts", "list"], ["jobs", "list"], ["audit", "list"], ["find", "sub_1"],
      ["payments", "list"], ["contexts", "list"], ["attempts", "list"], ["users", "show", "jdo-1"],
    ]
    for command in commands {
      let ran = harness.run(arguments: command)
      #expect(ran.code == .done, "\(command): \(ran.notes)")
      #expect(ran.notes.contains("warning: the configuration is wrong ("))
      #expect(ran.notes.contains("receiptctl config check"))
      #expect(!ran.out.contains("not configured"), "\(command): what receiptd has is not known")
    }
  }

  @Test(arguments: faults.indices)
  func `A change that needs no app's settings is made in spite of a typo`(fault: Int) throws {
    let harness = try Self.harness(Self.faults[fault])
    let ran = harness.run("failures", "ack", "--app", "ios", "--reason", "http_422")
    #expect(ran.code == .done, "\(ran.notes)")
    #expect(harness.run("db", "backup", "--record", "snapshot-1").code == .done)
  }

  @Test(arguments: [
    ["receipts", "replay", "--state", "failed", "--yes"],
    ["receipts", "cancel", "--state", "failed", "--why", "x", "--yes"],
    ["alerts", "test"], ["events", "reprocess", "--outcome", "unparsed", "--yes"], ["config", "show"],
    ["users", "forget", "jdo-1", "--yes"],
  ])
  func `A command that needs the apps' settings says so and changes nothing`(command: [String]) throws {
    for fault in Self.faults {
      let harness = try Self.harness(fault)
      let ran = harness.run(arguments: command)
      #expect(ran.code == .configuration)
      #expect(ran.notes.contains("needs a configuration without faults"))
      #expect(try harness.run("receipts", "list", "--json").objects.first?["state"] == "failed")
    }
  }

  @Test(arguments: [0, 1])
  func `Without one database in the file there is nothing to read`(kind: Int) throws {
    let harness = try OperatorHarness()
    try harness.configure { kind == 0 ? $0.replacing("database:", with: "databas:") : "{ database: 1, }}" }
    #expect(harness.run("stats").code == .configuration)
  }
}
