// What is wrong now, who was notified of it, and who would be. Pure; called from any thread.

public import Config
public import Domain
internal import Formats
internal import Platform
internal import Reports
public import Service
public import Store

/// What the dashboard shows of alerts. The parts of the service do not know each other, so the composition
/// provides it.
public struct AlertFacts: Sendable {
  /// Finds the troubles that exist now, with the default conditions.
  let troubles:
    @Sendable (Configuration, StoreReader, StoredFindings, HealthReport, Timestamp) throws(StoreFault) ->
      [Finding]
  /// The name under which the notices to a receiver are stored; nil if its address cannot be read.
  let digest: @Sendable (Configuration.Alert) -> String?

  public init(
    troubles:
      @escaping @Sendable (
        Configuration, StoreReader, StoredFindings, HealthReport, Timestamp
      ) throws(StoreFault) -> [Finding],
    digest: @escaping @Sendable (Configuration.Alert) -> String?
  ) {
    self.troubles = troubles
    self.digest = digest
  }
}

struct AlertsPage {
  /// One entry of `alerts`, without its address.
  struct Receiver {
    let name: String
    let alert: Configuration.Alert
    let digest: String?
    let attempts: HealthReport.Receiver?
  }

  let receivers: [Receiver]
  /// The last notice to each receiver about each trouble; those of troubles that are over only as long as the
  /// store keeps them. Those that fire come first.
  let notices: [AlertRecord]
  let troubles: TroubleList
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Alerts", place: .alerts) {
      Tag.h1 { "Alerts" }
      if receivers.isEmpty {
        PageParts.notice("pending") {
          Tag.p {
            "No alerts are configured, so nobody is notified. Add "
            Tag.code { "alerts" }
            " to the configuration."
          }
        }
      } else {
        Tag.h2 { "Notices" }
        if notices.isEmpty {
          Tag.p(.class("empty")) { "No alert is firing." }
        } else {
          noticeTable
        }
      }
      Tag.section(.class("part"), .labelledBy("troubles")) {
        Tag.h2(.id("troubles")) { "Wrong now" }
        troubles.whole
      }
      if !receivers.isEmpty {
        Tag.h2 { "Who is notified" }
        receiverTable
      }
    }
  }

  private var noticeTable: HTML {
    var table = DataTable(
      "The last notice about each trouble; one that is over is kept for 7 days",
      [.init("Alert"), .init("State"), .init("App"), .init("Began"), .init("Last sent"), .init("To")])
    let names = Dictionary(
      receivers.compactMap { receiver in receiver.digest.map { ($0, receiver.name) } }
    ) { first, _ in first }
    table.rows = notices.map { record in
      [
        Tag.code { record.key.condition },
        PageParts.badge(record.isFiring ? "firing" : "over", record.isFiring ? .bad : .ended),
        record.key.app.map { app in Tag.a(.href(Link("apps", app.text))) { PageParts.untrusted(app) } }
          ?? Tag.span(.class("none")) { "the relay" },
        PageParts.time(record.since, now: now), PageParts.time(record.notifiedAt, now: now),
        HTML {
          names[record.key.destination] ?? "a receiver that is not configured any more"
          if record.isUnanswered { Tag.span(.class("meaning")) { ", not answered" } }
        },
      ]
    }
    return table.html
  }

  private var receiverTable: HTML {
    var table = DataTable(
      "The entries of the configuration, without their addresses",
      [
        .init("Entry"), .init("As"), .init("Conditions", isLong: true), .init("Apps", isLong: true),
        .init("At most every"), .init("Last delivered"), .init("Last failure"),
      ])
    table.rows = receivers.map { receiver in
      [
        Tag.code { receiver.name }, HTML(text: receiver.alert.form.rawValue),
        HTML(text: receiver.alert.on.map(\.text).joined(separator: ", ")),
        receiver.alert.apps.map { PageParts.untrusted($0.map(\.text).joined(separator: ", ")) }
          ?? HTML(text: "all"),
        HTML(text: DurationText.text(receiver.alert.every)),
        receiver.attempts?.sentAt.map { PageParts.time($0, now: now) } ?? HTML(text: "–"),
        receiver.attempts?.failedAt.map { failed in
          HTML {
            PageParts.time(failed, now: now)
            " "
            Tag.span(.class("meaning")) { PageParts.untrusted(receiver.attempts?.failure ?? "") }
          }
        } ?? HTML(text: "–"),
      ]
    }
    return table.html
  }
}

extension Dashboard {
  func alertsPage() throws(Refusal) -> DashboardPage {
    let (now, configuration) = (now, health.configuration)
    let report = health.report(now: now)
    let (notices, troubles, loud) = try read { source throws(StoreFault) in
      (
        try source.reader.alerts(),
        try alerts.troubles(
          configuration, source.reader, StoredFindings(configuration.apps, source.reader, now: now), report,
          now),
        try source.reader.loudFailures()
      )
    }
    let receivers = configuration.alerts.enumerated().map { index, alert in
      let digest = alerts.digest(alert)
      return AlertsPage.Receiver(
        name: "alerts[\(index)]", alert: alert, digest: digest,
        attempts: digest.flatMap { report.receivers[$0] })
    }
    return AlertsPage(
      receivers: receivers,
      notices: notices.filter(\.isFiring) + notices.filter { !$0.isFiring },
      troubles: TroubleList([], troubles, newFailures: loud, mayChange: mayChange, now: now),
      now: now
    ).page
  }
}
