// One stored webhook. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Presentation
internal import Store

/// An event; several if several apps received the same id.
struct EventPage {
  let events: [(summary: EventSummary, body: [UInt8])]
  let now: Timestamp

  var page: DashboardPage {
    let id = events.first?.summary.id ?? ""
    return DashboardPage(title: "Event \(id)", place: .events) {
      Tag.p(.class("crumb")) { Tag.a(.href(Link("events"))) { "Events" } }
      Tag.h1(.class("id")) { PageParts.identifier(id) }
      for (index, event) in events.enumerated() { section(event.summary, event.body, id: "event-\(index)") }
    }
  }

  private func section(_ event: EventSummary, _ body: [UInt8], id: String) -> HTML {
    Tag.section(.class("card"), .labelledBy(id)) {
      Tag.h2(.id(id)) { PageParts.untrusted(event.type) }
      Tag.dl {
        row("app", PageParts.untrusted(event.app))
        row("processor", PageParts.untrusted(event.processor.text))
        row("outcome", PageParts.untrusted(event.outcome))
        row("received", PageParts.time(event.receivedAt, now: now))
        if let receipt = event.receiptID {
          row("receipt", Tag.a(.href(Link("receipts", receipt.text))) { PageParts.identifier(receipt) })
        }
      }
      RawBody.html(body, name: "Body")
    }
  }

  private func row(_ name: String, _ value: HTML) -> HTML {
    Tag.div {
      Tag.dt { name }
      Tag.dd { value }
    }
  }
}
