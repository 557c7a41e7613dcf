// The keys of the whole file, and of what concerns all apps. Adding a key is one declaration here or beside
// it. As ConfigurationReader: one thread, every fault.

internal import Domain
internal import Formats
internal import Platform

extension Configuration {
  /// The outermost object.
  static func section(_ registry: ProcessorRegistry) -> ConfigurationSection<Configuration> {
    registry == .standard ? standard : makeSection(registry)
  }

  private static let standard = makeSection(.standard)

  private static func makeSection(_ registry: ProcessorRegistry) -> ConfigurationSection<Configuration> {
    let processor = registry.kinds.first.map { "\($0.name.text): …, " } ?? ""
    var initial = Configuration(database: .file(""), apps: [])
    initial.registry = registry
    return ConfigurationSection(
      initial,
      [
        .section("listen", \.listen, Listen.section, "The public listener, for apps and webhooks.")
          .fixedUntilRestart,
        .section(
          "admin", \.admin, Admin.section,
          "The listener for health, metrics and the dashboard, which shows every receipt."
        ).then { configuration, _, context in configuration.reportSharedPort(context.collector) }
          .fixedUntilRestart,
        database,
        durability,
        .section("log", \.log, LogSettings.section, "The log, which goes to standard error.")
          .fixedUntilRestart,
        .section(
          "limits", \.limits, Limits.section,
          "How much load receiptd accepts. It refuses more, so that its memory stays bounded."
        ).fixedUntilRestart,
        .section(
          "retention", \.retention, Retention.section,
          "How long data is kept. A receipt that waits or is pending stays at any age."),
        .key(
          "alerts", \.alerts, .list(of: .section(Alert.section), count: ConfigurationLimits.alerts, "alerts"),
          "The receivers that are notified of problems: Slack, PagerDuty, a mailbox, or any address that "
            + "accepts a POST of JSON. Test them with: receiptctl alerts test."),
        .optional(
          "heartbeat", \.heartbeat, .section(Heartbeat.section),
          "A URL that is requested at intervals while receiptd is well. The service behind it raises the "
            + "alarm when the requests stop."),
        .required(
          "apps", \.apps, .apps(registry),
          advice: "configure at least one app: apps: { my-app: { client: …, \(processor)… } }",
          "The apps by name. The name is part of every URL, such as /v1/ios/contexts and "
            + "/v1/ios/webhooks/stripe. It has letters a to z, digits and hyphens; a name with a hyphen "
            + "needs quotes."
        ).then { configuration, _, context in
          for fault in AssociationFiles.faults(of: configuration.apps) {
            context.collector.fault(fault.path, fault.message)
          }
        },
      ])
  }

  /// Two listeners on one port: the second bind would fail at the start, long after `--check` passed. A
  /// wildcard occupies the port on every address of its family (ip(7), EADDRINUSE).
  private func reportSharedPort(_ collector: FaultCollector) {
    guard admin.socketPath == nil, listen.port == admin.port, listen.port != 0,
      let first = IPAddress(listen.address),
      let second = IPAddress(admin.address), first.isIPv6 == second.isIPv6,
      first == second || first.isWildcard || second.isWildcard
    else { return }
    collector.fault(
      "admin.port", "is the port of listen, on the same address; give admin another one, such as 8081")
  }
}

extension Configuration.Listen {
  static let section = ConfigurationSection(
    Self(),
    [
      .key("address", \.address, .address, "The address to listen on."),
      .key("port", \.port, .port, "The port to listen on. With 0 the system chooses one."),
      .optional(
        "tls", \.tls, .section(Configuration.TLS.section),
        "The certificate, if no proxy in front of receiptd does TLS."),
      .key(
        "proxies", \.proxies,
        .list(of: .network, count: ConfigurationLimits.proxies, "addresses"),
        "The proxies whose X-Forwarded-For is believed: addresses, or networks such as \"10.0.0.0/8\"."),
    ])
}

extension Configuration.TLS {
  private static let advice = "TLS needs both certificate and key, as paths of PEM files"

  static let section = ConfigurationSection(
    Self(certificatePath: "", keyPath: ""),
    [
      .required(
        "certificate", \.certificatePath, .pemFile, example: "/path/fullchain.pem", advice: advice,
        "The certificate and its chain."),
      .required(
        "key", \.keyPath, .pemFile, example: "/path/privkey.pem", advice: advice,
        "The private key of the certificate."),
    ])
}

extension Configuration.LogSettings {
  static let section = ConfigurationSection(
    Self(),
    [
      .key("level", \.level, .choice, "The least severe level that is logged."),
      .key("format", \.format, .choice, "The form of a line: text for people, json for programs."),
      .key(
        "personal", \.personal, .flag,
        "Whether user ids and client addresses are logged as they are. Otherwise each is replaced with a "
          + "short mark, which is the same for the same value until receiptd is restarted."),
    ])
}

extension Configuration.Retention {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "contexts",
        \.contexts,
        .duration(in: ConfigurationLimits.retention),
        "How long contexts are kept. One that an open receipt needs stays longer."),
      .key(
        "events",
        \.events,
        .duration(in: ConfigurationLimits.retention),
        "How long events are kept."),
      .key(
        "attempts",
        \.attempts,
        .duration(in: ConfigurationLimits.retention),
        "How long the attempts to deliver receipts are kept."),
      .key(
        "receipts",
        \.receipts,
        .duration(in: ConfigurationLimits.retention),
        "How long receipts are kept after their last change."),
    ])
}
