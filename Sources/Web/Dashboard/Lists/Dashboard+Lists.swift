// The lists of the dashboard. Each page reads a little, through indexes.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
internal import Service
internal import Store

extension Dashboard {
  /// The filter in a URL.
  func parsed<Filter: ListFilter>(_ head: RequestHead) throws(Refusal) -> ListSearch<Filter> {
    do throws(Fault) {
      return try ListSearch(query: head.query, now: now)
    } catch {
      guard !isProgram else { throw .problem(Self.problem(error)) }
      throw .page(try rejected(Filter.self, head.query, error).response)
    }
  }

  /// The form of a list with what was typed, and with what is wrong.
  private func rejected<Filter: ListFilter>(
    _: Filter.Type, _ query: String?, _ fault: Fault
  ) throws(Refusal) -> DashboardPage {
    guard let typed = try? AdminForm(query) else { throw .problem(Self.problem(fault)) }
    var form = form(for: ListSearch<Filter>(rejected: typed), try read(Self.knownProcessors))
    form.fault = fault
    let (title, label) = (
      Filter.resource.title, Filter.fields.first { $0.queryName == fault.path }?.label ?? "`\(fault.path)`"
    )
    let filled = form
    return DashboardPage(
      status: 400, title: title, place: DashboardPage.Place(rawValue: title) ?? .overview, updates: .still
    ) {
      Tag.h1 { title }
      PageParts.notice("bad") {
        Tag.p(.id("complaint")) {
          PageParts.untrusted("\(label) \(fault.message)\(fault.message.hasSuffix("?") ? "" : ".")")
        }
      }
      filled.html
    }
  }

  private static func knownProcessors(_ source: inout Source) throws(StoreFault) -> [AppProcessor] {
    Array(try source.reader.countsByProcessor().keys)
  }

  /// - Parameter known: the apps and processors that have receipts.
  private func form<Filter>(for search: ListSearch<Filter>, _ known: [AppProcessor]) -> FilterForm<Filter> {
    let current = apps.current
    return FilterForm(
      search: search, apps: Set(known.map(\.app)).union(current.slugs).sorted(),
      processors: Set(known.map(\.processor)).union(current.processorNames).sorted())
  }

  /// The page of a list. A form sends empty fields, too; then the browser goes to the URL without them, which
  /// people may share.
  /// - Parameters:
  ///   - isKnown: whether somebody takes care of a row's failure.
  ///   - before: what the page shows above the list.
  func list<Filter: ListFilter>(
    _: Filter.Type, _ head: RequestHead,
    isKnown: (StoreReader) throws(StoreFault) -> (Filter.Row) -> Bool = { _ in { _ in false } },
    counts: [String: [String: Int64]] = [:], tabbed: String? = nil,
    before: (Filter, StoreReader) throws(StoreFault) -> HTML = { _, _ in HTML() }
  ) throws(Refusal) -> DashboardPage {
    let search: ListSearch<Filter> = try parsed(head)
    guard search.isCanonical else { throw .moved(search.link(after: search.after)) }
    let (filter, now) = (search.filter, now)
    let (page, total, known, above, isKnown) = try read { source throws(StoreFault) in
      let reader = source.reader
      return (
        try filter.read(reader, limit: ListParts.pageSize, now: now), try filter.total(reader),
        FilterForm<Filter>.hasApps ? try Self.knownProcessors(&source) : [],
        try before(filter, reader), try isKnown(reader)
      )
    }
    var form = form(for: search, known)
    (form.counts, form.tabbed) = (counts, tabbed)
    return ListView(
      search: search, form: form, page: page, total: total, above: above, isKnown: isKnown, now: now
    ).html
  }

  func receipts(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let counts = try read { source throws(StoreFault) in try source.reader.receiptCounts() }
    let tabs = ReceiptTabs(search: try parsed(head), counts: counts, mayChange: mayChange)
    return try list(
      ReceiptFilter.self, head,
      isKnown: { reader throws(StoreFault) in
        let known = try KnownFailures(reader)
        return { known.contains($0) }
      }, counts: tabs.choices, tabbed: "state",
      before: { filter, reader throws(StoreFault) in
        guard let object = filter.objectID else { return tabs.html }
        let cards = try reader.details(object: object).filter { $0.record.receipt == nil }.map { detail in
          let purchase = detail.record.purchase
          return purchaseCard(
            detail,
            portal(detail.record.app, purchase.key.processor, beside: [purchase.sessionID?.text ?? ""]))
        }
        return tabs.html + HTML(cards)
      })
  }

  /// A purchase without a receipt, which the filter for an object finds.
  private func purchaseCard(_ detail: ReceiptDetail, _ portal: Portal) -> HTML {
    Tag.section(.class("card")) {
      Tag.h2 { PageParts.identifier(detail.record.purchase.key.id) }
      Tag.dl {
        for fact in ReceiptFacts.all(detail, now: now) {
          PageParts.fact(fact.name, fact.id?.html(in: fact.value, portal) ?? PageParts.untrusted(fact.value))
        }
      }
      for line in PaymentText.advice(detail, label: portal.label) { Tag.p { PageParts.untrusted(line) } }
    }
  }
}

/// The page of a list: its form, its entries, and the links to more.
struct ListView<Filter: ListFilter> {
  let search: ListSearch<Filter>
  let form: FilterForm<Filter>
  let page: ListPage<Filter.Row, Filter.Position>
  /// Nil if it is not known.
  let total: ListTotal?
  let above: HTML
  let isKnown: (Filter.Row) -> Bool
  let now: Timestamp

  var html: DashboardPage {
    let resource = Filter.resource
    return DashboardPage(
      title: resource.title, place: DashboardPage.Place(rawValue: resource.title) ?? .overview
    ) {
      Tag.h1 { resource.title }
      form.html
      above
      if !page.entries.isEmpty {
        ListParts.summary(search, total, now: now)
        resource.html(
          page.entries, without: form.showsProcessor ? [] : ["processor"], isKnown: isKnown, now: now)
      } else if page.compared == nil {
        Tag.p(.class("empty")) {
          search.isFiltered ? "No \(resource.one) matches." : resource.emptyPage
        }
      }
      ListParts.pages(search, page)
    }
  }
}
