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

extension Dashboard {
  var exportRoutes: [Route] {
    export(ReceiptFilter.self) + export(EventFilter.self) + export(ContextFilter.self)
      + export(ClaimFilter.self) + export(AttemptFilter.self) + export(AuditFilter.self)
      + export(JobFilter.self)
      + export(FailureChoice.self)
  }

  /// The routes of one list.
  private func export<Filter: ListFilter>(_: Filter.Type) -> [Route] {
    let path = Filter.resource.path
    return ExportFormat.allCases.map { format in
      Route(Route.reading, "/\(path).\(format.rawValue)", label: Self.label) { visit throws(Problem) in
        return { _, exchange in
          do throws(Refusal) {
            // It occupies a place and writes to the audit, so an image of another site must not cause it.
            let isLink = visit.head.header("Sec-Fetch-Dest") == "document"
            guard isLink || visit.head.header("Sec-Fetch-Site") != "cross-site" else {
              throw .problem(.foreignExport)
            }
            let search: ListSearch<Filter> = try self.parsed(visit.head)
            guard let place = exports.acquire() else { throw .problem(.exportsBusy) }
            let export = ListExport(format, Filter.resource, place) { position, limit in
              var filter = search.filter
              filter.after = position
              return try self.read { source throws(StoreFault) in
                try filter.read(source.reader, limit: limit, now: now)
              }
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
