// The routes of the dashboard. libmicrohttpd's threads.

internal import Domain
internal import HTTPServer
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
    ] + find + replayRoutes + liveRoutes + supplyRoutes + exportRoutes + replayOfFailed
      + FailureChange.allCases.flatMap(change)
      + ReceiptAction.allCases.flatMap(change) + AppChange.allCases.flatMap(change)
      + JobChange.allCases.flatMap(change)
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

  /// The routes of a form: the page that shows it, and the POST to the same path.
  private func form(
    _ path: String, ask: @escaping @Sendable (Dashboard, Visit) throws(Refusal) -> ConfirmationPage,
    change: @escaping @Sendable (Dashboard, Visit, AdminForm, Exchange) throws(Refusal) -> Void
  ) -> [Route] {
    [
      page(path, isForm: true) { dashboard, visit throws(Refusal) in
        try ask(dashboard, visit).page
      },
      post(path, change),
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

  private func change(_ action: ReceiptAction) -> [Route] {
    form("/receipts/{receipt}/\(action.rawValue)") { dashboard, visit throws(Refusal) in
      try dashboard.confirmation(receipt: ReceiptID(visit["receipt"] ?? ""), action)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(receipt: ReceiptID(visit["receipt"] ?? ""), action, form, visit.visitor, exchange)
    }
  }

  private func change(_ change: AppChange) -> [Route] {
    form("/apps/{app}/\(change.rawValue)") { dashboard, visit throws(Refusal) in
      try dashboard.confirmation(app: AppSlug(visit["app"] ?? ""), change)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(app: AppSlug(visit["app"] ?? ""), change, form, visit.visitor, exchange)
    }
  }

  private func change(_ change: FailureChange) -> [Route] {
    form("/failed/\(change.rawValue)") { dashboard, visit throws(Refusal) in
      dashboard.confirmation(group: try dashboard.group(try dashboard.form(visit.head.query)), change)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(change, form, visit.visitor, exchange)
    }
  }

  private func change(_ change: JobChange) -> [Route] {
    form("/jobs/{job}/\(change.rawValue)") { dashboard, visit throws(Refusal) in
      try dashboard.confirmation(job: JobID(visit["job"] ?? ""), change)
    } change: { dashboard, visit, form, exchange throws(Refusal) in
      try dashboard.change(job: JobID(visit["job"] ?? ""), change, form, visit.visitor, exchange)
    }
  }

  private var replayOfFailed: [Route] {
    form("/failed/replay") { dashboard, visit throws(Refusal) in
      try dashboard.confirmation(group: try dashboard.group(try dashboard.form(visit.head.query)))
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
