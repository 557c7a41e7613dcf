// The routes of the dashboard. libmicrohttpd's threads.

internal import Domain
internal import HTTPServer
internal import Reports
public import Service
internal import Store

extension Dashboard {
  /// The label `route` of all dashboard pages, and only of those.
  public static let label = "dashboard"
  /// The size limit of a submitted form.
  static let formBytesMax = 16 * 1024

  public var routes: [Route] {
    [
      file("/style.css", .stylesheet), file("/icon.svg", .icon),
      page("/") { dashboard, visit throws(Refusal) in
        try dashboard.overview(
          try dashboard.form(visit.head.query), isLive: LiveSwitch(visit.head).isOn)
      },
      page("/receipts") { dashboard, visit throws(Refusal) in try dashboard.receipts(visit.head) },
      page("/receipts/{receipt}") { dashboard, visit throws(Refusal) in
        try dashboard.receipt(ReceiptID(visit["receipt"] ?? ""), try dashboard.form(visit.head.query))
      },
      page("/apps/{app}") { dashboard, visit throws(Refusal) in
        try dashboard.app(AppSlug(visit["app"] ?? ""), try dashboard.form(visit.head.query))
      },
      page("/contexts") { dashboard, visit throws(Refusal) in
        try dashboard.list(ContextFilter.self, visit.head)
      },
      page("/contexts/{context}") { dashboard, visit throws(Refusal) in
        try dashboard.context(ContextID(visit["context"] ?? ""))
      },
      page("/user") { dashboard, visit throws(Refusal) in
        try dashboard.user(try dashboard.form(visit.head.query))
      },
      page("/alerts") { dashboard, _ throws(Refusal) in try dashboard.alertsPage() },
      page("/settings") { dashboard, _ throws(Refusal) in dashboard.settings() },
      page("/attempts") { dashboard, visit throws(Refusal) in
        try dashboard.list(AttemptFilter.self, visit.head)
      },
      page("/failed") { dashboard, _ throws(Refusal) in try dashboard.failed() },
      page("/event") { dashboard, visit throws(Refusal) in
        try dashboard.event(try dashboard.form(visit.head.query))
      },
      page("/events") { dashboard, visit throws(Refusal) in
        try dashboard.list(EventFilter.self, visit.head)
      },
      page("/audit") { dashboard, visit throws(Refusal) in
        try dashboard.list(AuditFilter.self, visit.head)
      },
      page("/claims") { dashboard, visit throws(Refusal) in
        try dashboard.list(ClaimFilter.self, visit.head)
      },
      page("/jobs") { dashboard, visit throws(Refusal) in
        try dashboard.list(JobFilter.self, visit.head)
      },
      page("/jobs/{job}") { dashboard, visit throws(Refusal) in
        try dashboard.job(
          visit["job"] ?? "", try dashboard.form(visit.head.query), isLive: LiveSwitch(visit.head).isOn)
      },
    ] + find + liveRoutes + exportRoutes + actions.flatMap { formRoutes(of: $0) }
  }

  /// What operators can change, with forms and with the API.
  var actions: [OperatorAction] {
    var actions = ReceiptAction.allCases.map { action($0) }
    actions += Supply.allCases.map { action($0) }
    actions += [replayOfListed, replayOfFailed]
    actions += FailureChange.allCases.map { action($0) }
    actions += AppChange.allCases.map { action($0) }
    return actions + JobChange.allCases.map { action($0) }
  }

  private func file(_ path: String, _ file: DashboardFile) -> Route {
    Route(read: path, label: Self.label) { request, exchange in
      exchange.answer(file.response(to: request.head))
    }
  }

  /// - Parameter isForm: whether only users who may change something see it.
  func page(
    _ path: String, isForm: Bool = false,
    _ make: @escaping @Sendable (Dashboard, Visit) throws(Refusal) -> DashboardPage
  ) -> Route {
    Route(Route.reading, path, label: Self.label) { visit throws(Problem) in
      try Self.checkIDs(of: visit)
      guard visit.mayChange || !isForm else { throw .operatorsOnly }
      return { _, exchange in
        if let change = LiveSwitch.change(visit.head) { return exchange.answer(change) }
        do throws(Refusal) {
          exchange.answer(try make(serving(visit), visit).response(LiveSwitch(visit.head)))
        } catch {
          exchange.answer(response(to: error, exchange.scope))
        }
      }
    }
  }

  /// The page with the form of an action, and the POST to the same path.
  private func formRoutes(of action: OperatorAction) -> [Route] {
    [
      page(action.path, isForm: true) { dashboard, visit throws(Refusal) in
        try action.page(dashboard, visit)
      },
      post(action.path, action.change),
    ]
  }

  func post(
    _ path: String, changesNothing: Bool = false,
    _ receive: @escaping @Sendable (Dashboard, Visit, AdminForm, Exchange) throws(Refusal) -> Void
  ) -> Route {
    Route(
      ["POST"], path, label: Self.label, bodyBytesMax: Self.formBytesMax, changesNothing: changesNothing
    ) { visit throws(Problem) in
      try Self.checkIDs(of: visit)
      guard AdminAccess.isOfThisSite(visit.head) else { throw .foreignForm }
      guard visit.head.mediaType == .form else { throw .wrongMediaType }
      return { request, exchange in
        do throws(Refusal) {
          try receive(serving(visit), visit, try self.form(sent: request), exchange)
        } catch {
          exchange.answer(response(to: error, exchange.scope))
        }
      }
    }
  }

  private var find: [Route] {
    [
      page("/find") { dashboard, visit throws(Refusal) in
        try dashboard.find(try dashboard.form(visit.head.query))
      },
      post("/find", changesNothing: true) { dashboard, _, form, exchange throws(Refusal) in
        try dashboard.find(form, exchange)
      },
    ]
  }

  private func action(_ action: ReceiptAction) -> OperatorAction {
    OperatorAction(
      "/receipts/{receipt}/\(action.rawValue)", "\(action.rawValue.capitalizedFirst) this receipt",
      action == .cancel
        ? [.whyRequired]
        : [.init("force", "Whether a delivered receipt is sent again; needs why", .flag), .why]
    ) { dashboard, visit, _ throws(Refusal) in
      try dashboard.confirmation(receipt: ReceiptID(visit["receipt"] ?? ""), action)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(receipt: ReceiptID(visit["receipt"] ?? ""), action, form, visit.visitor, exchange)
    }
  }

  private func action(_ change: AppChange) -> OperatorAction {
    OperatorAction(
      "/apps/{app}/\(change.rawValue)", "\(change.title) of this app",
      change == .pause
        ? [.init("for", "Such as 30m, 4h or 2d; until resumed without it"), .whyRequired] : [.why]
    ) { dashboard, visit, _ throws(Refusal) in
      try dashboard.confirmation(app: AppSlug(visit["app"] ?? ""), change)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(app: AppSlug(visit["app"] ?? ""), change, form, visit.visitor, exchange)
    }
  }

  /// The fields that name a group of failed receipts.
  private static let groupFields: [OperatorAction.Field] = [
    .init("app", "The app", isRequired: true), .init("processor", "The payment processor"),
    .init("reason", "The reason, such as http_422", isRequired: true),
    .init("cause", "The last cause, if it is not the reason"),
  ]

  private func action(_ change: FailureChange) -> OperatorAction {
    OperatorAction(
      "/failed/\(change.rawValue)", "\(change.label) a group of failures",
      Self.groupFields
        + (change == .acknowledge ? [.init("owner", "Who takes care of it", isRequired: true)] : []) + [.why]
    ) { dashboard, _, form throws(Refusal) in
      dashboard.confirmation(group: try dashboard.group(form), change)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(change, form, visit.visitor, exchange)
    }
  }

  private func action(_ change: JobChange) -> OperatorAction {
    OperatorAction(
      "/jobs/{job}/\(change.rawValue)",
      change == .rate ? "Change the rate of this job" : "\(change.rawValue.capitalizedFirst) this job",
      change == .rate ? [.rateRequired, .why] : change == .cancel ? [.whyRequired] : [.why]
    ) { dashboard, visit, _ throws(Refusal) in
      try dashboard.confirmation(job: JobID(visit["job"] ?? ""), change)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(job: JobID(visit["job"] ?? ""), change, form, visit.visitor, exchange)
    }
  }

  private var replayOfFailed: OperatorAction {
    OperatorAction("/failed/replay", "Replay a group of failures", Self.groupFields + [.rate, .why]) {
      dashboard, _, form throws(Refusal) in
      try dashboard.confirmation(group: try dashboard.group(form), rate: form["rate"])
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.replayFailed(form, visit.visitor, exchange)
    }
  }

  /// An id with the wrong form gets 404.
  static func checkIDs(of visit: Visit) throws(Problem) {
    if let id = visit["receipt"], !ReceiptID(id).isWellFormed { throw .notFound }
    if let id = visit["context"], !ContextID(id).isWellFormed { throw .notFound }
    if let id = visit["job"], !JobID(id).isWellFormed { throw .notFound }
  }
}

/// The actions on one receipt.
enum ReceiptAction: String, Sendable, CaseIterable {
  case replay, cancel
}
