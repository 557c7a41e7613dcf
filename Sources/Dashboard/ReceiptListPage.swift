// The list of receipts, with filters and pages. Pure; called from any thread.

internal import Domain
internal import HTML
internal import Presentation
internal import Store

struct ReceiptListPage {
  let search: ReceiptSearch
  /// The choices of the filter: configured apps, and those with receipts.
  let apps: [AppSlug]
  /// The choices of the filter: configured processors, and those with receipts.
  let processors: [ProcessorName]
  let records: [PurchaseRecord]
  let hasMore: Bool
  /// The purchases without a receipt that the filter for an object finds, with their processor's display
  /// name.
  let withoutReceipt: [(detail: ReceiptDetail, label: String?)]
  let now: Timestamp

  var page: DashboardPage {
    DashboardPage(title: "Receipts", place: .receipts) {
      Tag.h1 { "Receipts" }
      form
      for purchase in withoutReceipt { card(purchase.detail, purchase.label) }
      if records.isEmpty {
        Tag.p(.class("empty")) {
          search.isFiltered ? "No receipt matches." : "There are no receipts yet."
        }
      } else {
        table
      }
      pages
    }
  }

  private var form: HTML {
    Tag.form(.class("filters"), .action(Link("receipts")), .method("get"), .role("search")) {
      select("app", "App", search.app, apps.map { ($0.text, $0.text) })
      if showsProcessor {
        select("processor", "Processor", search.processor, processors.map { ($0.text, $0.text) })
      }
      select(
        "state", "State", search.state?.rawValue, ReceiptState.allCases.map { ($0.rawValue, $0.rawValue) })
      field("reason", "Reason", search.reason)
      field("cause", "Cause", search.cause)
      field("user", "User", search.user)
      field("object", "The processor's id", search.object)
      select("import_id", "Import id", search.lacksImportID ? "none" : nil, [("none", "none named")])
      select("since", "Made in", search.since, sinceChoices)
      Tag.div(.class("actions")) {
        Tag.button(.type("submit")) { "Show" }
        if search.isFiltered { Tag.a(.href(Link("receipts"))) { "Clear" } }
      }
    }
  }

  /// With a single processor, neither filter nor column says anything.
  private var showsProcessor: Bool { processors.count > 1 || search.processor != nil }

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

  private var sinceChoices: [(String, String)] {
    let known = ReceiptSearch.sinceChoices
    guard let since = search.since, !known.contains(where: { $0.0 == since }) else { return known }
    return known + [(since, since)]
  }

  private func field(_ name: String, _ label: String, _ value: String?) -> HTML {
    Tag.div(.class("field")) {
      Tag.label(.for("filter-\(name)")) { label }
      VoidTag.input(
        .id("filter-\(name)"), .name(name), .type("text"), .value(value ?? ""), .maxLength(255),
        Attribute("autocomplete", "off"), Attribute("autocapitalize", "none"),
        Attribute("spellcheck", "false"))
    }
  }

  private func select(
    _ name: String, _ label: String, _ chosen: String?, _ choices: [(String, String)]
  ) -> HTML {
    // A value in the URL stays selected, even if it is not among the choices.
    let unknown = chosen.flatMap { value in choices.contains { $0.0 == value } ? nil : (value, value) }
    return Tag.div(.class("field")) {
      Tag.label(.for("filter-\(name)")) { label }
      Tag.select(.id("filter-\(name)"), .name(name)) {
        Tag.option(.value("")) { "any" }
        for (value, text) in choices + (unknown.map { [$0] } ?? []) {
          Tag.option(.value(value), .selected(value == chosen)) { text }
        }
      }
    }
  }

  private var table: HTML {
    var table = DataTable(
      "Newest first",
      [.init("Receipt"), .init("State"), .init("App")] + (showsProcessor ? [.init("Processor")] : []) + [
        .init("User", isLong: true), .init("Price", isLong: true),
        .init("Attempts", isNumber: true), .init("Made"),
      ])
    for record in records {
      guard let receipt = record.receipt else { continue }
      table.rows.append(
        [
          Tag.a(.href(Link("receipts", receipt.id.text))) { PageParts.identifier(receipt.id) },
          PageParts.badge(receipt.state, receipt.reasonText), PageParts.untrusted(record.app),
        ] + (showsProcessor ? [PageParts.untrusted(record.purchase.key.processor)] : []) + [
          record.purchase.userID.map(PageParts.untrusted) ?? Tag.span(.class("none")) { "not known" },
          (receipt.priceID ?? record.purchase.prices.first).map(PageParts.identifier)
            ?? Tag.span(.class("none")) { "not known" },
          HTML(text: PageParts.number(receipt.attempts)), PageParts.time(receipt.createdAt, now: now),
        ])
    }
    return table.html
  }

  private var pages: HTML {
    let last = hasMore ? records.last?.receipt?.id : nil
    guard search.after != nil || last != nil else { return HTML() }
    return Tag.nav(.class("pages"), .label("Pages")) {
      if search.after != nil { Tag.a(.href(search.link(after: nil))) { "First page" } }
      if let last { Tag.a(.class("next"), .href(search.link(after: last.text))) { "Next page" } }
    }
  }
}
