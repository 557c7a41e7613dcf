// One stored webhook. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

/// An event; several if several apps received the same id.
struct EventPage {
  /// Without a body for users who may not read it.
  let events: [(summary: EventSummary, body: [UInt8]?, portal: Portal)]
  let now: Timestamp

  var page: DashboardPage {
    let id = events.first?.summary.id ?? ""
    return DashboardPage(title: "Event \(id)", place: .events) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("events"))) { "Events" } }
      Tag.h1(.class("id")) { PageParts.identifier(id) }
      for (index, event) in events.enumerated() {
        section(event.summary, event.body, event.portal, id: "event-\(index)")
      }
    }
  }

  private func section(_ event: EventSummary, _ body: [UInt8]?, _ portal: Portal, id: String) -> HTML {
    Tag.section(.class("card"), .labelledBy(id)) {
      Tag.h2(.id(id)) { PageParts.untrusted(event.type) }
      Tag.dl {
        PageParts.fact("app", Tag.a(.href(Link("apps", event.app.text))) { PageParts.untrusted(event.app) })
        PageParts.fact(
          "processor",
          HTML {
            PageParts.untrusted(event.processor.text)
            portal.link(to: event.id.text)
          })
        PageParts.fact(
          "type",
          Tag.a(.href(Link("events", query: [("app", event.app.text), ("type", event.type)]))) {
            PageParts.untrusted(event.type)
          })
        PageParts.fact("outcome", PageParts.untrusted(event.outcome))
        PageParts.fact("received", PageParts.exact(event.receivedAt, now: now))
        PageParts.fact(
          "receipt", event.receiptID.map { NamedID.receipt($0).html } ?? HTML(text: "none"))
      }
      RawBody.html(body, name: "Body")
    }
  }
}
