// Valid and invalid alerts in the configuration.

import Domain
import Formats
import Platform
import Testing

@testable import Config
@testable import Upkeep

@Suite("Alerts of the configuration") struct AlertConditionTests {
  typealias Samples = ConfigurationSamples

  @Test(
    "A condition is read with its limit, and written as its shortest text",
    arguments: [
      ("breaker_open", "breaker_open"), ("receipt_failed", "receipt_failed"),
      ("oldest_pending", "oldest_pending>15m"), ("oldest_pending > 90s", "oldest_pending>90s"),
      ("disk_low", "disk_low<1GiB"), ("database", "database"), ("disk_low<512MiB", "disk_low<512MiB"),
      ("signature_failures", "signature_failures>10"), ("signature_failures>0", "signature_failures>0"),
      ("processor_failures", "processor_failures>10"), ("processor_failures>0", "processor_failures>0"),
      ("contexts_refused", "contexts_refused>10"), ("contexts_refused>0", "contexts_refused>0"),
      ("unreadable_events", "unreadable_events"), ("events_unparsed", "unreadable_events"),
      ("capture_unknown", "capture_unknown>15m"), ("capture_unknown > 2h", "capture_unknown>2h"),
      ("callbacks_missing", "callbacks_missing"), ("app_paused", "app_paused"),
      ("reload_refused", "reload_refused"),
      ("backup_old", "backup_old>26h"), ("backup_old > 8d", "backup_old>8d"),
      ("backlog_growing", "backlog_growing>1000"), ("backlog_growing>0", "backlog_growing>0"),
      ("corruption", "corruption"), ("no_events", "no_events>30m"), ("no_events>2h", "no_events>2h"),
      ("certificate_expires", "certificate_expires<14d"),
      ("certificate_expires<3d", "certificate_expires<3d"),
      ("contexts_unjoined", "contexts_unjoined"), ("association_files", "association_files"),
      ("clock", "clock>5s"), ("clock>2s", "clock>2s"),
    ])
  func forms(text: String, shortest: String) {
    #expect(AlertCondition(parsing: text)?.text == shortest)
    #expect(AlertCondition(parsing: shortest)?.text == shortest)
  }

  @Test(
    "A text that is not a condition is refused",
    arguments: [
      "", ">", "breaker", "breaker_open>1", "oldest_pending<15m", "oldest_pending>", "oldest_pending>0s",
      "oldest_pending>15", "disk_low>1GiB", "disk_low<1KB", "signature_failures>-1", "signature_failures>1.5",
      "processor_failures>-1", "capture_unknown>0s", "capture_unknown<15m", "callbacks_missing>3",
      "app_paused>1h", "contexts_unjoined>3", "unreadable_events>1", "user_conflict>1", "contexts_refused<10",
      "association_files>1",
      "receipt_failed>3", "reload_refused>1", "backup_old<26h", "backlog_growing>1h", "corruption>1",
      "no_events<30m", "certificate_expires>14d", "certificate_expires<14", "clock>1s", "clock<5s",
      "disk_low<9999999GiB", "oldest_pending>15m>1h",
    ])
  func refused(text: String) { #expect(AlertCondition(parsing: text) == nil) }

  @Test func `Every condition is read from its text, and may be listed together with the others`() throws {
    for condition in AlertCondition.forms { #expect(AlertCondition(parsing: condition.text) == condition) }
    let texts = AlertCondition.forms.map { "'\($0.text)'" }.joined(separator: ", ")
    let root = "alerts: [{ to: 'https://h/', on: [\(texts)] }],"
    #expect(try Samples.read(Samples.text(root: root)).configuration.alerts.first?.on == AlertCondition.forms)
  }

  @Test func `Alerts and heartbeat are read, and shown without their addresses (R7)`() throws {
    let root = """
      alerts: [{ to: "https://hooks.example.com/secret-path", on: ["breaker_open", "disk_low<2GiB"],
                 every: "5m", apps: ["shop"] }, { to: "env:API_KEY_URL", on: ["receipt_failed"] }],
      heartbeat: { to: "https://beat.example.com/secret-path", every: "30s" },
      """
    let environment = Environment([
      "CLIENT_KEY": "c", "WEBHOOK_SECRET": "whsec_one", "API_KEY": "k",
      "API_KEY_URL": "https://hooks.example.com/secret-path-2",
    ])
    let configuration = try Samples.read(Samples.text(root: root), environment: environment).configuration
    try #require(configuration.alerts.count == 2)
    #expect(configuration.alerts[0].every == .minutes(5))
    #expect(configuration.alerts[0].on == [.breakerOpen, .diskLow(underBytes: 2 << 30)])
    #expect(configuration.alerts[0].apps == ["shop"])
    #expect(configuration.alerts[1].apps == nil)
    #expect(configuration.alerts[1].every == .minutes(10))
    #expect(configuration.heartbeat?.every == .seconds(30))
    let shown = configuration.redacted
    #expect(!shown.text.contains("secret-path"))
    #expect(shown["alerts"]?.text.contains(#""to":"env:API_KEY_URL""#) == true)
    #expect(shown["heartbeat"]?["to"] == "(set in place)")
    #expect(try AlertPlan(configuration).alerts.map(\.target.label) == ["alerts[0]", "alerts[1]"])
  }

  @Test(arguments: [
    ("alerts: [{ on: ['breaker_open'] }],", "alerts[0].to", "is missing; write the address"),
    (
      "alerts: [{ to: 'http://hooks.example.com/secret', on: ['breaker_open'] }],", "alerts[0].to",
      "https://"
    ),
    ("alerts: [{ to: 'secret', on: ['breaker_open'] }],", "alerts[0].to", "must be a whole address"),
    ("alerts: [{ to: 'https://h/secret' }],", "alerts[0].on", "there are breaker_open"),
    ("alerts: [{ to: 'https://h/secret', on: [] }],", "alerts[0].on", "must have from 1 to 40 conditions"),
    (
      "alerts: [{ to: 'https://h/secret', on: ['braker_open'] }],", "alerts[0].on[0]",
      "did you mean \"breaker_open\""
    ),
    (
      "alerts: [{ to: 'https://h/secret', on: ['disk_low', 'disk_low<1GiB'] }],", "alerts[0].on[1]",
      "take it out"
    ),
    (
      "alerts: [{ to: 'https://h/secret', on: ['disk_low'], every: '1ms' }],", "alerts[0].every",
      "from 1s to 7d"
    ),
    (
      "alerts: [{ to: 'https://h/secret', on: ['disk_low'], apps: ['shpo'] }],", "alerts[0].apps[0]",
      "did you mean \"shop\""
    ),
    (
      "alerts: [{ to: 'https://h/secret', on: ['disk_low'], evry: '1m' }],", "alerts[0].evry",
      "did you mean \"every\""
    ),
    ("alerts: 'https://h/secret',", "alerts", "must be a list of alerts"),
    ("heartbeat: {},", "heartbeat.to", "is missing"),
    ("heartbeat: { to: 'https://h/secret', every: '2d' },", "heartbeat.every", "from 1s to 1d"),
    ("log: { personal: 'yes' },", "log.personal", "must be true or false"),
  ])
  func `A fault names its key and the remedy, and no address`(root: String, path: String, message: String) {
    let faults = Samples.faults(Samples.text(root: root))
    #expect(faults.contains { $0.path == path && $0.message.contains(message) }, "\(faults)")
    #expect(!faults.description.contains("secret"), "\(faults)")
  }
}
