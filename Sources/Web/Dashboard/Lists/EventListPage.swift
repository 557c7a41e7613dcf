// The list of events, with filters and pages. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct EventListPage {
  static let pageSize = 50

  let search: ListSearch<EventFilter>
  let form: FilterForm<EventFilter>
  let page: ListPage<EventSummary, EventRowID>
  let total: ListTotal
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Events", place: .events) {
      Tag.h1 { "Events" }
      form.html
      if page.entries.isEmpty {
        Tag.p(.class("empty")) { search.isFiltered ? "No event matches." : "There are no events yet." }
      } else {
        ListParts.summary(search, total, "event", now: now)
        table
      }
      ListParts.pages(search, page) { String($0.number) }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Newest first",
      [.init("Event", isLong: true), .init("Type", isLong: true), .init("Outcome"), .init("App")]
        + (form.showsProcessor ? [.init("Processor")] : []) + [.init("Receipt"), .init("Received")])
    table.rows = page.entries.map { event in
      [
        NamedID.event(event.id).html,
        PageParts.untrusted(event.type), PageParts.untrusted(event.outcome),
        Tag.a(.href(Link("apps", event.app.text))) { PageParts.untrusted(event.app) },
      ] + (form.showsProcessor ? [PageParts.untrusted(event.processor)] : []) + [
        event.receiptID.map { NamedID.receipt($0).html } ?? Tag.span(.class("none")) { "–" },
        PageParts.time(event.receivedAt, now: now),
      ]
    }
    return table.html
  }
}
