// Tables that several pages show: receipts and contexts. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct ReceiptTable {
  var caption = "Newest first"
  let records: [PurchaseRecord]
  var showsProcessor = false
  var showsUser = true
  let now: Timestamp

  var html: HTML {
    var table = DataTable(
      caption,
      [.init("Receipt"), .init("State"), .init("Last answer"), .init("App")]
        + (showsProcessor ? [.init("Processor")] : [])
        + (showsUser ? [.init("User", isLong: true)] : []) + [
          .init("Price", isLong: true), .init("Attempts", isNumber: true), .init("Made"),
        ])
    for record in records {
      guard let receipt = record.receipt else { continue }
      let price = receipt.priceID ?? record.purchase.prices.first
      table.rows.append(
        [
          NamedID.receipt(receipt.id).html, PageParts.badge(receipt.state, receipt.reasonText),
          receipt.lastStatus.map { HTML(text: String($0)) } ?? Tag.span(.class("none")) { "–" },
          Tag.a(.href(Link("apps", record.app.text))) { PageParts.untrusted(record.app) },
        ] + (showsProcessor ? [PageParts.untrusted(record.purchase.key.processor)] : [])
          + (showsUser ? [user(record.purchase.userID)] : []) + [
            price.map { NamedID.price($0).html } ?? Tag.span(.class("none")) { "not known" },
            HTML(text: PageParts.number(receipt.attempts)), PageParts.time(receipt.createdAt, now: now),
          ])
    }
    return table.html
  }

  private func user(_ id: UserID?) -> HTML {
    id.map { id in Tag.a(.href(NamedID.user(id).link)) { PageParts.untrusted(id) } }
      ?? Tag.span(.class("none")) { "not known" }
  }
}

struct ContextTable {
  var caption = "Newest first"
  let contexts: [ContextSummary]
  var showsUser = true
  let now: Timestamp

  var html: HTML {
    let none = Tag.span(.class("none")) { "–" }
    var table = DataTable(
      caption,
      [.init("Context"), .init("State")] + (showsUser ? [.init("User", isLong: true)] : []) + [
        .init("App"), .init("Price", isLong: true), .init("Receipt"), .init("Received"), .init("Expires"),
      ])
    table.rows = contexts.map { context in
      [NamedID.context(context.id).html, Self.badge(context.state)]
        + (showsUser
          ? [Tag.a(.href(NamedID.user(context.userID).link)) { PageParts.untrusted(context.userID) }] : [])
        + [
          Tag.a(.href(Link("apps", context.app.text))) { PageParts.untrusted(context.app) },
          context.blob.priceID.map { NamedID.price($0).html } ?? none,
          context.receiptID.map { NamedID.receipt($0).html } ?? none,
          PageParts.time(context.receivedAt, now: now), PageParts.time(context.expiresAt, now: now),
        ]
    }
    return table.html
  }

  static func badge(_ state: CheckoutStatus.State) -> HTML {
    let kind =
      switch state {
      case .open: "waiting"
      case .paid: "pending"
      case .delivered: "delivered"
      case .failed: "failed"
      case .cancelled, .expired: "cancelled"
      }
    return Tag.span(.class("badge \(kind)")) { state.rawValue }
  }
}
