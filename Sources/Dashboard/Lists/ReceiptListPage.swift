// The list of receipts, with filters and pages. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Presentation
internal import Store

struct ReceiptListPage {
  static let pageSize = 50

  let search: ListSearch<ReceiptFilter>
  let form: FilterForm<ReceiptFilter>
  let page: ListPage<PurchaseRecord, ReceiptID>
  /// Nil if it is not known without comparing all receipts.
  let total: ListTotal?
  /// The purchases without a receipt that the filter for an object finds, with their processor's display
  /// name.
  let withoutReceipt: [(detail: ReceiptDetail, label: String?)]
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Receipts", place: .receipts) {
      Tag.h1 { "Receipts" }
      form.html
      for purchase in withoutReceipt { card(purchase.detail, purchase.label) }
      if page.entries.isEmpty {
        if page.compared == nil {
          Tag.p(.class("empty")) { search.isFiltered ? "No receipt matches." : "There are no receipts yet." }
        }
      } else {
        ListParts.summary(search, total, "receipt", now: now)
        table
      }
      ListParts.pages(search, page) { $0.text }
    }
  }

  private func card(_ detail: ReceiptDetail, _ label: String?) -> HTML {
    Tag.section(.class("card")) {
      Tag.h2 { PageParts.identifier(detail.record.purchase.key.id) }
      Tag.dl {
        for fact in ReceiptFacts.all(detail) {
          Tag.div {
            Tag.dt { fact.name }
            Tag.dd { PageParts.untrusted(fact.value) }
          }
        }
      }
      for line in PaymentText.advice(detail, label: label) { Tag.p { PageParts.untrusted(line) } }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Newest first",
      [.init("Receipt"), .init("State"), .init("Last answer"), .init("App")]
        + (form.showsProcessor ? [.init("Processor")] : []) + [
          .init("User", isLong: true), .init("Price", isLong: true),
          .init("Attempts", isNumber: true), .init("Made"),
        ])
    for record in page.entries {
      guard let receipt = record.receipt else { continue }
      table.rows.append(
        [
          Tag.a(.href(Link("receipts", receipt.id.text))) { PageParts.identifier(receipt.id) },
          PageParts.badge(receipt.state, receipt.reasonText),
          receipt.lastStatus.map { HTML(text: String($0)) } ?? Tag.span(.class("none")) { "–" },
          PageParts.untrusted(record.app),
        ] + (form.showsProcessor ? [PageParts.untrusted(record.purchase.key.processor)] : []) + [
          record.purchase.userID.map(PageParts.untrusted) ?? Tag.span(.class("none")) { "not known" },
          (receipt.priceID ?? record.purchase.prices.first).map(PageParts.identifier)
            ?? Tag.span(.class("none")) { "not known" },
          HTML(text: PageParts.number(receipt.attempts)), PageParts.time(receipt.createdAt, now: now),
        ])
    }
    return table.html
  }
}
