// The overview: the state of every app. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Health
internal import Presentation

struct OverviewPage {
  /// Each app has two charts.
  static let appsMax = 20
  static let refreshSeconds = 60

  let apps: [AppSummary]
  /// The first app of the next page.
  let next: String?
  let health: HealthReport
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Overview", place: .overview, refreshSeconds: Self.refreshSeconds) {
      Tag.h1 { "Overview" }
      state
      if apps.isEmpty { Tag.p { "No app is configured, and none has receipts." } }
      for (index, app) in apps.enumerated() { AppCard(app: app, id: "app-\(index)", now: now).html }
      if let next {
        Tag.p(.class("pages")) { Tag.a(.href(Link(query: [("from", next)]))) { "More apps" } }
      }
    }
  }

  /// The lines that receiptctl prints, too; problems are emphasized.
  private var state: HTML {
    let lines = health.lines(
      daemon: nil, now: now,
      webhooks: { place in apps.first { $0.slug == place.app }?.webhookAdvice[place.processor] },
      processors: { place in apps.first { $0.slug == place.app }?.processorAdvice[place.processor] })
    return PageParts.notice(lines.contains(where: \.isBad) ? "bad" : "good") {
      for line in lines {
        Tag.p {
          if line.isBad {
            Tag.strong { PageParts.untrusted(line.text) }
          } else {
            PageParts.untrusted(line.text)
          }
        }
      }
    }
  }
}
