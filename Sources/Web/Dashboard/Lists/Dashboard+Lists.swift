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
  func parsed<Filter: ListFilter>(_ path: String, _ head: RequestHead) throws(Refusal) -> ListSearch<Filter> {
    do throws(Fault) {
      return try ListSearch(path, query: head.query, now: now)
    } catch {
      throw .problem(Self.problem(error))
    }
  }

  /// The same for a page. A form sends empty fields, too; then the browser goes to the URL without them,
  /// which people may share.
  func search<Filter: ListFilter>(_ path: String, _ head: RequestHead) throws(Refusal) -> ListSearch<Filter> {
    let search: ListSearch<Filter> = try parsed(path, head)
    guard search.isCanonical else { throw .moved(search.link(after: search.after)) }
    return search
  }

  /// The apps and processors for the form: those that are configured, and those with receipts.
  func form<Filter>(
    _ search: ListSearch<Filter>, rare: Set<String> = [], known: some Sequence<AppProcessor>
  ) -> FilterForm<Filter> {
    let current = apps.current
    return FilterForm(
      search: search, apps: Set(known.map(\.app)).union(current.slugs).sorted(),
      processors: Set(known.map(\.processor)).union(current.processorNames).sorted(), rare: rare)
  }

  /// The filter with the position in the URL.
  func filter(_ search: ListSearch<ReceiptFilter>) throws(Refusal) -> ReceiptFilter {
    var filter = search.filter
    guard let after = search.after.map(ReceiptID.init) else { return filter }
    guard after.isWellFormed else {
      throw .problem(
        Self.problem(Fault(path: "after", message: "is the id of the last receipt on the previous page")))
    }
    filter.after = after
    return filter
  }

  /// A position that is the number of a row.
  func row(_ after: String?) throws(Refusal) -> Int64? {
    guard let after else { return nil }
    guard let row = Int64(after), row > 0 else {
      throw .problem(Self.problem(Fault(path: "after", message: "is the number of an entry")))
    }
    return row
  }

  func receipts(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let search: ListSearch<ReceiptFilter> = try search("receipts", head)
    let filter = try filter(search)
    let (page, total, known, unpaid) = try read { source throws(StoreFault) in
      (
        try source.reader.receiptPage(filter, limit: ReceiptListPage.pageSize),
        try source.reader.total(filter), Array(try source.reader.countsByProcessor().keys),
        try filter.objectID.map { object throws(StoreFault) in
          try source.reader.details(object: object).filter { $0.record.receipt == nil }
        } ?? []
      )
    }
    return ReceiptListPage(
      search: search,
      form: form(
        search,
        rare: [
          "join", "cause", "customer", "status", "price", "object", "session", "import-id", "no-import-id",
        ], known: known),
      page: page, total: total,
      withoutReceipt: unpaid.map { detail in
        (
          detail,
          portal(
            detail.record.app, detail.record.purchase.key.processor,
            beside: [detail.record.purchase.sessionID?.text ?? ""])
        )
      }, now: now
    ).html
  }

  func events(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let search: ListSearch<EventFilter> = try search("events", head)
    var filter = search.filter
    filter.after = try row(search.after).map(EventRowID.init)
    let wanted = filter
    let size = EventListPage.pageSize
    let (found, total, known) = try read { source throws(StoreFault) in
      (
        try source.reader.events(wanted, limit: size + 1), try source.reader.total(wanted),
        Array(try source.reader.countsByProcessor().keys)
      )
    }
    return EventListPage(
      search: search, form: form(search, known: known),
      page: ListPage(found, limit: size) { $0.row }, total: total, now: now
    ).html
  }

  func audit(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let search: ListSearch<AuditFilter> = try search("audit", head)
    var filter = search.filter
    filter.after = try row(search.after)
    let wanted = filter
    let size = AuditPage.pageSize
    let records = try read { source throws(StoreFault) in try source.reader.audit(wanted, limit: size + 1) }
    return AuditPage(search: search, page: ListPage(records, limit: size) { $0.row }, now: now).html
  }

  func jobs(_ head: RequestHead) throws(Refusal) -> DashboardPage {
    let search: ListSearch<JobFilter> = try search("jobs", head)
    var filter = search.filter
    filter.after = search.after.map(JobID.init)
    let wanted = filter
    let size = JobListPage.pageSize
    let jobs = try read { source throws(StoreFault) in try source.reader.jobs(wanted, limit: size + 1) }
    return JobListPage(search: search, page: ListPage(jobs, limit: size) { $0.id }, now: now).html
  }
}
