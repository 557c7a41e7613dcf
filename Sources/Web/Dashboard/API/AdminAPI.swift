// The API for operators' programs, below `/api/v1`: the lists of the dashboard, and what they list, as the
// JSON that receiptctl prints. A request needs a token, and neither a cookie nor a password counts, so a page
// of another site cannot cause one. The thread of the pages.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Reports
public import Service
internal import Store

/// One operation of the API: its route, and what its description says.
struct APIOperation {
  /// One field of the query.
  struct Parameter {
    let name: String
    let text: String
    let schema: JSONValue
  }

  /// Below the root, such as `/receipts/{receipt}`.
  let path: String
  let summary: String
  /// Not needed to serve it.
  let parameters: @Sendable () -> [Parameter]
  /// The members of the body; nil for an operation that only reads.
  var fields: [OperatorAction.Field]?
  /// The schema of the answer.
  let answer: @Sendable () -> JSONValue
  let route: Route
}

extension Dashboard {
  /// The path of the API.
  public static let apiRoot = "/api/v1"
  /// The label `route` of the API.
  public static let apiLabel = "api"
  private static let apiLimits = 1...500

  public var apiRoutes: [Route] { apiOperations.map(\.route) + [apiDescriptionRoute] }

  var apiOperations: [APIOperation] {
    [
      list(ReceiptFilter.self), list(EventFilter.self), list(ContextFilter.self), list(ClaimFilter.self),
      list(AttemptFilter.self), list(AuditFilter.self), list(FailureChoice.self),
      list(PaymentFilter.self) { dashboard, filter, reader throws(StoreFault) in
        filter.places = try dashboard.health.configuration.places(reader)
      },
      list(
        JobFilter.self,
        finish: { dashboard, job, reader throws(StoreFault) in try dashboard.paced(job, reader) }),
      object("receipts/{receipt}", ReceiptResource.list) { dashboard, visit throws(Refusal) in
        try dashboard.receiptJSON(ReceiptID(visit["receipt"] ?? ""))
      },
      object("contexts/{context}", ContextResource.list) { dashboard, visit throws(Refusal) in
        let (id, now) = (ContextID(visit["context"] ?? ""), dashboard.now)
        let found = try dashboard.read { source throws(StoreFault) in
          try source.reader.context(id: id, now: now)
        }
        guard let found else { throw .problem(.unknownContext) }
        return ContextResource.detail(of: found, withBody: dashboard.mayChange)
      },
      object("claims/{claim}", ClaimResource.list) { dashboard, visit throws(Refusal) in
        let (id, now) = (ClaimID(visit["claim"] ?? ""), dashboard.now)
        let found = try dashboard.read { source throws(StoreFault) in
          try source.reader.claim(id: id, now: now)
        }
        guard let found else { throw .problem(.unknownClaim) }
        return ClaimResource.list.object(of: found)
      },
      object("jobs/{job}", JobResource.list()) { dashboard, visit throws(Refusal) in
        try dashboard.jobJSON(JobID(visit["job"] ?? ""))
      },
      events, status,
    ] + actions.map(operation)
  }

  /// Several apps may have received the same event.
  private var events: APIOperation {
    reading(
      "/events/{event}", "Show an event, once for each app that received it",
      answer: Self.page(of: EventResource.list.schema)
    ) { dashboard, visit, _ throws(Refusal) in
      let id = EventID(visit["event"] ?? "")
      let found = try dashboard.read { source throws(StoreFault) in try source.reader.events(id: id) }
      guard !found.isEmpty else { throw .problem(.unknownEvent) }
      return Self.page(
        found.map { EventResource.detail(of: $0.summary, body: dashboard.mayChange ? $0.body : nil) })
    }
  }

  /// What `receiptctl status --json` prints, as one object.
  private var status: APIOperation {
    reading(
      "/status", "Show what is wrong now and what to do, and the state of each app",
      [
        .init(
          name: "app", text: "Only this app, and what concerns all",
          schema: ["type": "string", "minLength": 1, "maxLength": 255])
      ], answer: Self.statusSchema
    ) { dashboard, _, form throws(Refusal) in
      let only = form["app"].map(AppSlug.init)
      let (now, configuration) = (dashboard.now, dashboard.health.configuration)
      let report = dashboard.health.report(now: now)
      let (status, apps) = try dashboard.read { source throws(StoreFault) in
        let reader = source.reader
        let stored = StoredFindings(configuration.apps, reader, now: now)
        let problems = Finding.problems(
          Finding.current(report, stored, configuration, now: now),
          try dashboard.alerts.troubles(configuration, reader, stored, report, now), now: now)
        return (
          HealthReport.status(
            report, isRunning: true, isReady: report.isReady, freeBytes: report.freeBytes, stored.unread,
            problems.filter { only == nil || $0.app == nil || $0.app == only }),
          try AppStats.all(reader, configuration, only: only, isServed: true, now: now)
        )
      }
      guard only == nil || !apps.isEmpty else { throw .problem(.unknownApp) }
      return .object(status + [.init(name: "apps", value: .array(apps.map(AppStats.list.object)))])
    }
  }

  private static var statusSchema: JSONValue {
    [
      "type": "object", "required": ["service", "findings", "apps"],
      "properties": [
        "service": ["type": "object", "required": ["running", "ready"]],
        "findings": ["type": "array", "items": Finding.list.schema],
        "apps": ["type": "array", "items": AppStats.list.schema],
      ],
    ]
  }

  private func receiptJSON(_ id: ReceiptID) throws(Refusal) -> JSONValue {
    let now = now
    let json = try read { source throws(StoreFault) -> JSONValue? in
      guard let detail = try detail(of: id, source.reader, now: now) else { return nil }
      return ReceiptJSON.detail(
        of: detail,
        audit: try source.reader.audit(of: detail.record, limit: ReceiptPage.auditEntryLimit),
        jobs: try source.reader.jobs(ofPurchase: detail.record.rowID), withBodies: mayChange)
    }
    guard let json else { throw .problem(.unknownReceipt) }
    return json
  }

  private func jobJSON(_ id: JobID) throws(Refusal) -> JSONValue {
    let now = now
    let json = try read { source throws(StoreFault) -> JSONValue? in
      guard let job = try pacedJob(id, source.reader) else { return nil }
      let holds = try source.reader.holds(job, now: now)
      return JobResource.list(heldApps: holds.map(\.app)).object(of: job)
    }
    guard let json else { throw .problem(.unknownJob) }
    return json
  }

  // MARK: Forms of operations

  /// - Parameters:
  ///   - prepare: adds to the filter what its query needs besides the request.
  ///   - finish: adds what the list's query does not read.
  private func list<Filter: ListFilter>(
    _: Filter.Type,
    prepare:
      @escaping @Sendable (Dashboard, inout Filter, StoreReader) throws(StoreFault) -> Void = {
        _, _, _ throws(StoreFault) in
      },
    finish:
      @escaping @Sendable (Dashboard, Filter.Row, StoreReader) throws(StoreFault) -> Filter.Row = {
        _, row, _ throws(StoreFault) in row
      }
  ) -> APIOperation {
    let resource = Filter.resource
    return reading(
      "/\(resource.path)", "List \(resource.one)s", Self.parameters(Filter.self),
      answer: Self.page(of: resource.schema)
    ) { dashboard, visit, form throws(Refusal) in
      let search: ListSearch<Filter> = try dashboard.parsed(visit.head)
      let most = Filter.hasPages ? ListParts.pageSize : Self.apiLimits.upperBound
      let limit = Int(form["limit"] ?? String(most))
      guard let limit, Self.apiLimits.contains(limit) else {
        throw .problem(
          Self.invalid(
            "limit",
            "must be a whole number from \(Self.apiLimits.lowerBound) to \(Self.apiLimits.upperBound)"))
      }
      let now = dashboard.now
      return try dashboard.read { source throws(StoreFault) in
        var filter = search.filter
        try prepare(dashboard, &filter, source.reader)
        let page = try filter.read(source.reader, limit: limit, now: now)
        let rows = try page.entries.map { row throws(StoreFault) in
          resource.object(of: try finish(dashboard, row, source.reader))
        }
        return Self.page(rows, next: page.next?.position, compared: page.compared)
      }
    }
  }

  private static func parameters<Filter: ListFilter>(_: Filter.Type) -> [APIOperation.Parameter] {
    let fields = Filter.fields.map {
      APIOperation.Parameter(name: $0.queryName, text: $0.help, schema: $0.schema)
    }
    guard Filter.hasPages else { return fields }
    return fields + [
      .init(
        name: "limit", text: "At most this many; default \(ListParts.pageSize)",
        schema: [
          "type": "integer", "minimum": .integer(Int64(apiLimits.lowerBound)),
          "maximum": .integer(Int64(apiLimits.upperBound)),
        ]),
      .init(name: "after", text: "`next` of the page before", schema: ["type": "string", "minLength": 1]),
    ]
  }

  private func object<Row>(
    _ path: String, _ resource: Resource<Row>,
    _ make: @escaping @Sendable (Dashboard, Visit) throws(Refusal) -> JSONValue
  ) -> APIOperation {
    reading("/\(path)", "Show one \(resource.one)", answer: resource.schema) {
      dashboard, visit, _ throws(Refusal) in try make(dashboard, visit)
    }
  }

  private func reading(
    _ path: String, _ summary: String,
    _ parameters: @escaping @Sendable @autoclosure () -> [APIOperation.Parameter] = [],
    answer: @escaping @Sendable @autoclosure () -> JSONValue,
    _ make: @escaping @Sendable (Dashboard, Visit, AdminForm) throws(Refusal) -> JSONValue
  ) -> APIOperation {
    let route = Route(Route.reading, Self.apiRoot + path, label: Self.apiLabel) { visit throws(Problem) in
      try Self.checkIDs(of: visit)
      return { _, exchange in
        let dashboard = serving(visit, isProgram: true)
        do throws(Refusal) {
          let form = try dashboard.form(visit.head.query)
          try form.check(known: parameters().map(\.name))
          exchange.answer(.json(try make(dashboard, visit, form)))
        } catch {
          exchange.answer(dashboard.response(to: error, exchange.scope))
        }
      }
    }
    return APIOperation(path: path, summary: summary, parameters: parameters, answer: answer, route: route)
  }

  /// - Parameter compared: how many entries were compared, if the others were not.
  private static func page(_ items: [JSONValue], next: String? = nil, compared: Int? = nil) -> JSONValue {
    [
      "items": .array(items), "next": .optional(next), "compared": .optional(compared.map(Int64.init)),
    ]
  }

  private static func page(of schema: JSONValue) -> JSONValue {
    [
      "type": "object", "required": ["items", "next", "compared"],
      "properties": [
        "items": ["type": "array", "items": schema], "next": ["type": ["string", "null"]],
        "compared": ["type": ["integer", "null"]],
      ],
    ]
  }
}

extension AdminForm {
  /// A program must notice that a field was not understood: a list without it would have other entries.
  func check(known: [String]) throws(Dashboard.Refusal) {
    var seen: Set<String> = []
    for (name, value) in fields {
      guard known.contains(name) else {
        let names =
          known.isEmpty ? "there are none here" : "the fields here are \(known.joined(separator: ", "))"
        throw .problem(Dashboard.invalid(String(name.prefix(64)), "is not known; \(names)"))
      }
      guard !value.isEmpty, seen.insert(name).inserted else {
        throw .problem(Dashboard.invalid(name, "must be there once, with a value"))
      }
    }
  }
}

extension FilterField {
  /// As the description of the API has it.
  fileprivate var schema: JSONValue {
    switch kind {
    case .choice(let words) where isRepeatable: Self.several("(\(words.joined(separator: "|")))")
    case .choice(let words): ["type": "string", "enum": .array(words.map(JSONValue.string))]
    case .flag: ["type": "string", "enum": [.string(FilterFlag.given)]]
    case .text, .app, .processor, .moment: ["type": "string", "minLength": 1, "maxLength": 255]
    }
  }

  private static func several(_ one: String) -> JSONValue {
    ["type": "string", "pattern": .string("^\(one)(,\(one))*$")]
  }
}

extension Response {
  /// An answer of the API, which no cache stores.
  static func json(_ value: JSONValue) -> Response {
    var response = Response(status: 200, type: "application/json", body: value.serialized())
    response.headers += [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"),
    ]
    return response
  }
}

extension Problem {
  static let unknownClaim = Problem(
    slug: "unknown-claim", title: "No such claim", status: 404,
    detail: "There is no claim with this id, or it was deleted.")
}
