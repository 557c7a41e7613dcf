// The overview: what needs the operator, then one row for each app, then the relay. Pure; called from any
// thread.

internal import Domain
internal import Formats
internal import Reports
internal import Service

struct OverviewPage {
  let figures: LiveFigures
  let isLive: Bool
  let troubles: TroubleList
  let rows: [AppRow]
  /// From 1.
  let number: Int
  /// Whether there are more apps than fit on this page.
  let hasMore: Bool
  /// What is well with the relay.
  let findings: [Finding]
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Overview", place: .overview) {
      Tag.h1 { "Overview" }
      if number == 1 {
        Tag.section(.class("part"), .labelledBy("needs")) {
          Tag.h2(.id("needs")) { "Needs you" }
          troubles.html
        }
        LiveBlock(
          title: "Numbers of all apps, renewed every \(Dashboard.liveSeconds) seconds", name: "numbers",
          source: Link("live", "numbers"), content: figures.numbers
        ).html(isLive: isLive)
      }
      if rows.isEmpty {
        Tag.p(.class("empty")) { "No app is configured, and none has receipts." }
      } else {
        Tag.h2 { "Apps" }
        AppList(rows: rows, now: now).html
        pages
      }
      relay
    }
  }

  @HTMLBuilder private var pages: HTML {
    if number > 1 || hasMore {
      Tag.nav(.class("pages"), .label("Pages")) {
        if number > 1 { Tag.a(.href(link(number - 1))) { "Previous apps" } }
        if hasMore { Tag.a(.class("next"), .href(link(number + 1))) { "More apps" } }
      }
    }
  }

  private func link(_ number: Int) -> Link {
    Link(query: [("page", number > 1 ? String(number) : nil)])
  }

  private var relay: HTML {
    Tag.section(.class("part"), .labelledBy("relay")) {
      Tag.h2(.id("relay")) { "Relay" }
      for finding in findings { Tag.p { PageParts.untrusted(finding.line) } }
      Tag.p(.class("summary")) {
        "Clock, certificates, the last backup, destinations and processors are checked by "
        Tag.code { "receiptctl doctor" }
        "."
      }
    }
  }
}
