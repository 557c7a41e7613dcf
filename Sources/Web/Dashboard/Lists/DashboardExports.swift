// The lists of the dashboard as files: `/receipts.csv` is the list of `/receipts`, and so on. Each export
// is in the audit.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Groups of failures have no filter.
struct FailureFilter: ListFilter {
  static let fields: [FilterField<FailureFilter>] = []
}

extension Dashboard {
  var exportRoutes: [Route] { receiptExports + otherExports }

  private var receiptExports: [Route] {
    export("receipts", ReceiptExport.fields) {
      (reader, filter: ReceiptFilter, last: ReceiptID?, limit) throws(StoreFault) in
      var filter = filter
      filter.after = last
      return try reader.receiptPage(filter, limit: limit)
    }
  }

  private var otherExports: [Route] {
    let events = export("events", EventExport.fields) {
      (reader, filter: EventFilter, last: EventRowID?, limit) throws(StoreFault) in
      var filter = filter
      filter.after = last
      return ListPage(try reader.events(filter, limit: limit + 1), limit: limit) { $0.row }
    }
    let contexts = export("contexts", ContextExport.fields) {
      (reader, filter: ContextFilter, last: ContextID?, limit) throws(StoreFault) in
      var filter = filter
      filter.after = last
      return ListPage(try reader.contexts(filter, now: now, limit: limit + 1), limit: limit) { $0.id }
    }
    let attempts = export("attempts", AttemptExport.fields) {
      (reader, filter: AttemptFilter, last: Int64?, limit) throws(StoreFault) in
      var filter = filter
      filter.after = last
      return try reader.attempts(filter, limit: limit)
    }
    let audit = export("audit", AuditExport.fields) {
      (reader, filter: AuditFilter, last: Int64?, limit) throws(StoreFault) in
      var filter = filter
      filter.after = last
      return ListPage(try reader.audit(filter, limit: limit + 1), limit: limit) { $0.row }
    }
    let jobs = export("jobs", JobExport.fields()) {
      (reader, filter: JobFilter, last: JobID?, limit) throws(StoreFault) in
      var filter = filter
      filter.after = last
      return ListPage(try reader.jobs(filter, limit: limit + 1), limit: limit) { $0.id }
    }
    let failed = export("failed", FailureExport.fields) {
      (reader, _: FailureFilter, _: Int?, _) throws(StoreFault) in
      ListPage<FailureGroup, Int>(try reader.failures(limit: FailedPage.groupsMax), next: nil)
    }
    return events + attempts + contexts + audit + jobs + failed
  }

  /// The routes of one list.
  /// - Parameter read: reads a slice after a position; nil is the start.
  private func export<Filter: ListFilter, Entry, Position: Sendable>(
    _ path: String, _ fields: ExportFields<Entry>,
    read:
      @escaping @Sendable (StoreReader, Filter, Position?, Int) throws(StoreFault) -> ListPage<
        Entry, Position
      >
  ) -> [Route] {
    ExportFormat.allCases.map { format in
      Route(Route.reading, "/\(path).\(format.rawValue)", label: Self.label) { visit throws(Problem) in
        return { _, exchange in
          do throws(Refusal) {
            // It occupies a place and writes to the audit, so an image of another site must not cause it.
            let isLink = visit.head.header("Sec-Fetch-Dest") == "document"
            guard isLink || visit.head.header("Sec-Fetch-Site") != "cross-site" else {
              throw .problem(.foreignExport)
            }
            let search: ListSearch<Filter> = try self.parsed(path, visit.head)
            guard let place = exports.acquire() else { throw .problem(.exportsBusy) }
            let filter = search.filter
            let export = ListExport(format, fields, place) { position, limit in
              try self.read { source throws(StoreFault) in try read(source.reader, filter, position, limit) }
            }
            try answer(export, search, format, visit, exchange)
          } catch {
            exchange.answer(response(to: error, exchange.scope))
          }
        }
      }
    }
  }

  /// Answers once the export is in the audit.
  private func answer<Filter>(
    _ export: some BodyStream, _ search: ListSearch<Filter>, _ format: ExportFormat, _ visit: Visit,
    _ exchange: Exchange
  ) throws(Refusal) {
    let headers: [(name: String, value: String)] = [
      ("Content-Type", format.mediaType), ("Cache-Control", "no-store"),
      ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"),
      ("Content-Disposition", "attachment; filename=\"\(search.path).\(format.rawValue)\""),
    ]
    guard visit.head.method != "HEAD" else {
      return exchange.answer(Response(status: 200, headers: headers, stream: export))
    }
    let app = search["app"].map(AppSlug.init)
    let entry = AuditEntry(
      at: now, actor: visit.visitor, action: "\(search.path) export", app: app,
      details: search.details(format).text)
    let services = services
    let isQueued = committer.submit(WriteAudit(entry), from: .external(app: app ?? "")) { result in
      switch result {
      case .success: exchange.answer { Response(status: 200, headers: headers, stream: export) }
      case .failure(let error):
        services.log.error(
          "could not store an export of the dashboard in the audit",
          ["error": error.description, "request_id": exchange.scope.requestID])
        exchange.answer(Problem.storeFailed.page(requestID: exchange.scope.requestID))
      }
    }
    guard isQueued else { throw .problem(committer.refusal(for: app ?? "")?.problem ?? .busy) }
  }
}

extension ListSearch {
  /// What the audit keeps of an export: which list, but nothing that leads to a user.
  fileprivate func details(_ format: ExportFormat) -> JSONValue {
    let filters = given.map { field, text in
      JSONValue.Member(name: field.name, value: field.isPersonal ? true : .string(text))
    }
    return ["format": .string(format.rawValue), "filter": .object(filters)]
  }
}

extension Problem {
  static let foreignExport = Problem(
    slug: "foreign-export", title: "Export not started", status: 403,
    detail: "A page of another site asked for it. Open the list in the dashboard, and export it there.")
  static let exportsBusy = Problem(
    slug: "exports-busy", title: "Other exports are running", status: 503,
    detail: "At most \(ExportPlaces.max) lists are exported at once. Try again when one has ended.",
    headers: ["Retry-After": "10"])
}
