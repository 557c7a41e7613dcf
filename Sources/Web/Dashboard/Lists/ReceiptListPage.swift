// The list of receipts, with filters and pages. Pure; called from any thread.

internal import Domain
internal import Formats
internal import Reports
internal import Store

struct ReceiptListPage {
  static let pageSize = 50

  let search: ListSearch<ReceiptFilter>
  let form: FilterForm<ReceiptFilter>
  let page: ListPage<PurchaseRecord, ReceiptID>
  /// Nil if it is not known without comparing all receipts.
  let total: ListTotal?
  /// The purchases without a receipt that the filter for an object finds.
  let withoutReceipt: [(detail: ReceiptDetail, portal: Portal)]
  let now: Timestamp

  var html: DashboardPage {
    DashboardPage(title: "Receipts", place: .receipts) {
      Tag.h1 { "Receipts" }
      form.html
      for purchase in withoutReceipt { card(purchase.detail, purchase.portal) }
      if page.entries.isEmpty {
        if page.compared == nil {
          Tag.p(.class("empty")) { search.isFiltered ? "No receipt matches." : "There are no receipts yet." }
        }
      } else {
        ListParts.summary(search, total, "receipt", now: now)
        ReceiptTable(records: page.entries, showsProcessor: form.showsProcessor, now: now).html
      }
      ListParts.pages(search, page) { $0.text }
    }
  }

  private func card(_ detail: ReceiptDetail, _ portal: Portal) -> HTML {
    Tag.section(.class("card")) {
      Tag.h2 { PageParts.identifier(detail.record.purchase.key.id) }
      Tag.dl {
        for fact in ReceiptFacts.all(detail) {
          PageParts.fact(fact.name, fact.id?.html(in: fact.value, portal) ?? PageParts.untrusted(fact.value))
        }
      }
      for line in PaymentText.advice(detail, label: portal.label) { Tag.p { PageParts.untrusted(line) } }
    }
  }
}
