// `receiptctl reload` reports the result of the reload.

import Formats
import Glibc
import TestSupport
import Testing

@Suite(.withDaemonLog) struct ReloadAnswerTests {
  /// Runs `receiptctl reload --json` to its end.
  private func reload(
    _ relay: Relay, _ arguments: String...
  ) throws -> (code: Int32, report: JSONValue?, output: String) {
    let output = relay.directory.file("receiptctl.log")
    let start = TextFile.size(output)
    let code = try relay.operate(["reload", "--json"] + arguments).end()
    let text = TextFile.read(output, from: start)
    let line = text.split(separator: "\n").last { $0.hasPrefix("{") }
    return (code, try line.map { try JSONValue(parsing: Array($0.utf8)) }, text)
  }

  @Test("A reload reports the changes, those that need a restart, and secrets that it cannot read again")
  func applied() throws {
    let app: JSONValue = ["purchasely": ["api_key": "env:RECEIPT_RELAY_TEST_KEY"]]
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination, app: app)
    let keyFile = relay.directory.file("client_key")
    try relay.directory.write(Secrets.clientKey + "\n", to: "client_key")
    let fromFile: JSONValue = ["apps": ["shop": ["client": ["keys": [.string("file:\(keyFile)")]]]]]
    relay.configuration = relay.configuration.merging(fromFile)
    try Relay.$logPath.withValue(relay.logPath) {
      try relay.start(environment: ["RECEIPT_RELAY_TEST_KEY": Secrets.apiKey])
      let idle = try reload(relay, "--why", "a new key")
      #expect(idle.code == 0)
      #expect(try relay.receiptctl("audit", "list", "--what", "reload").output.contains("a new key"))
      #expect(idle.report?["changed"] == [])
      #expect(idle.report?["generation"] == 2)
      #expect(idle.report?["kept_secrets"] == ["apps.shop.purchasely.api_key (env:RECEIPT_RELAY_TEST_KEY)"])
      try relay.directory.write("another-client-key\n", to: "client_key")
      relay.configuration = relay.configuration.merging([
        "log": ["level": "debug"], "apps": ["shop": ["delivery": ["rate": 7]]],
      ])
      try relay.writeConfiguration()
      let changed = try reload(relay)
      #expect(changed.code == 0, "\(changed.output)")
      #expect(
        changed.report?["changed"] == ["apps.shop.delivery.rate", "apps.shop.client.keys[0]"],
        "\(changed.output)")
      #expect(changed.report?["needs_restart"] == ["log.level"])
      #expect(try relay.outside.postContext("jdo-1", "e30=").status == 401)
      // A key that needs a restart is reported until the restart.
      #expect(try reload(relay).report?["needs_restart"] == ["log.level"])
      try waitUntil("the log says what needs a restart") {
        relay.log.contains("need a restart: systemctl restart receiptd")
      }
      #expect(!TextFile.read(relay.directory.file("receiptctl.log")).contains(Secrets.apiKey))
    }
  }

  @Test("receiptctl reload reports a refused reload with every fault, and the old configuration stays")
  func refused() throws {
    try withRelay { relay, _ in
      let good = relay.configuration
      relay.configuration = good.merging(["apps": ["shop": ["stripe": ["webhook_secret": []]]]])
      try relay.writeConfiguration()
      let refused = try reload(relay)
      #expect(refused.code == 78)
      #expect(refused.report?["result"] == "refused")
      #expect(refused.output.contains("apps.shop.stripe.webhook_secret: "))
      #expect(try relay.outside.postContext("jdo-1", "e30=").status == 201)
      // An unreadable file names no database, so receiptctl cannot find receiptd and reports the fault
      // itself.
      try relay.directory.write("{", to: "receiptd.json5")
      let unreadable = try reload(relay)
      #expect(unreadable.code == 78)
      #expect(unreadable.output.contains("was not asked to reload"))
      relay.configuration = good
      try relay.writeConfiguration()
      #expect(try reload(relay).code == 0)
    }
  }

  @Test("After a change of \"database\" a reload says why it finds no receiptd, and how to reload anyway")
  func movedDatabaseKey() throws {
    try withRelay { relay, _ in
      let served = relay.directory.file("receiptd.db")
      relay.configuration = relay.configuration.merging([
        "database": .string(relay.directory.file("other.db")), "apps": ["shop": ["delivery": ["rate": 7]]],
      ])
      try relay.writeConfiguration()
      let lost = try reload(relay)
      #expect(lost.code == 69)
      #expect(lost.output.contains("If \"database\" was changed, restart receiptd"))
      // Like the systemd unit, which knows its process.
      let process = try #require(relay.process).id
      let asUnit = try reload(relay, "--process", "\(process)")
      #expect(asUnit.code == 69, "\(asUnit.output)")
      #expect(asUnit.output.contains("receiptd (process \(process)) does not serve"))
      let found = try reload(relay, "--process", "\(process)", "--database", served)
      #expect(found.code == 0, "\(found.output)")
      #expect(found.report?["changed"] == ["apps.shop.delivery.rate"])
      #expect(found.report?["needs_restart"] == ["database"])
      let page = try relay.admin.request("GET", "/").text
      #expect(page.contains("changes that only a restart applies (database)"))
    }
  }

  @Test("Without a receiptd, and with one that dies before it answers, a reload says so with exit code 69")
  func gone() throws {
    try withRelay { relay, _ in
      try relay.suspend()
      let asking = try relay.operate(["reload"])
      try #require(try relay.stop(SIGKILL) != 0)
      #expect(try asking.end() == 69)
      #expect(try reload(relay).code == 69)
    }
  }

  @Test("Concurrent reload requests are all answered, by a reload that began after each request")
  func together() throws {
    try withRelay { relay, _ in
      try relay.suspend()
      let asking = try (0..<4).map { _ in try relay.operate(["reload"]) }
      relay.signal(SIGCONT)
      for one in asking { #expect(try one.end() == 0) }
    }
  }
}
