// The public pages' routes, for customers and devices. libmicrohttpd's threads.

internal import Config
internal import Formats
internal import HTTPServer
public import Platform
public import Service

/// The return page, the helpers for Swedbank Pay's SDKs, and the association files.
public struct PublicPageRoutes: Sendable {
  private let apps: AppRegistry
  private let associations: AssociationRegistry
  private let returnPage: ReturnPage
  private let claimPage: ClaimPage

  public init(
    apps: AppRegistry, associations: AssociationRegistry, clock: any Clock,
    find: @escaping ReturnPage.Find, findClaim: @escaping ClaimPage.Find,
    summarize: @escaping ReturnPage.Summarize
  ) {
    self.apps = apps
    self.associations = associations
    returnPage = ReturnPage(find: find, summarize: summarize, clock: clock)
    claimPage = ClaimPage(find: findClaim, summarize: summarize)
  }

  public var routes: [Route] {
    [
      page, logo, claim, trampoline, associationFile("/.well-known/apple-app-site-association", .apple),
      associationFile("/apple-app-site-association", .apple),
      associationFile("/.well-known/assetlinks.json", .android),
      associationFile("/.well-known/apple-developer-merchantid-domain-association", .applePay),
    ] + SwedbankHelper.allCases.map(swedbank)
  }

  private var page: Route {
    Route(Route.reading, "/v1/{app}/return", label: "return") { visit throws(Problem) in
      let app = try apps.app(of: visit)
      if app.links == nil { throw .notFound }
      return apps.handler(of: app.slug) { request, app, exchange in
        guard let links = app.links else { return exchange.answer(.notFound) }
        returnPage.answer(request.head, app, links, exchange)
      }
    }
  }

  /// Every token has a page, so that a scanner learns nothing from the status.
  private var claim: Route {
    Route(Route.reading, "/v1/{app}/claim/{token}", label: "claim_page") { visit throws(Problem) in
      let app = try apps.app(of: visit)
      return apps.handler(of: app.slug) { request, app, exchange in
        claimPage.answer(request.head, visit["token"] ?? "", app, exchange)
      }
    }
  }

  private var logo: Route {
    Route(Route.reading, "/v1/{app}/return/logo", label: "return_logo") { visit throws(Problem) in
      let app = try apps.app(of: visit)
      guard let logo = app.links?.returnPage?.logo else { throw .notFound }
      return { request, exchange in exchange.answer(ReturnPage.answer(logo, to: request.head)) }
    }
  }

  /// A literal path, because the target is forwarded byte for byte, and the app compares it.
  private func swedbank(_ helper: SwedbankHelper) -> Route {
    Route(
      Route.reading, "/v1/{app}/swedbank/\(helper.rawValue)", label: "swedbank", isLiteral: true
    ) { visit throws(Problem) in
      try helped(visit) { request, helpers, exchange in
        helpers.answer(helper, request.head, exchange, returnPage)
      }
    }
  }

  private var trampoline: Route {
    Route(Route.reading, "/v1/{app}/trampoline", label: "trampoline") { visit throws(Problem) in
      try helped(visit) { request, helpers, exchange in
        exchange.answer(helpers.trampoline(request.head))
      }
    }
  }

  private func helped(
    _ visit: Visit, _ handle: @escaping @Sendable (Request, SwedbankHelpers, Exchange) -> Void
  ) throws(Problem) -> Route.Handler {
    let app = try apps.app(of: visit)
    if SwedbankHelpers(app) == nil { throw .notFound }
    return apps.handler(of: app.slug) { request, app, exchange in
      guard let helpers = SwedbankHelpers(app) else { return exchange.answer(.notFound) }
      handle(request, helpers, exchange)
    }
  }

  private func associationFile(_ path: String, _ kind: AssociationFileKind) -> Route {
    Route(Route.reading, path, label: "association_files") { visit throws(Problem) in
      let file = try associations.current.answer(to: visit.head, kind)
      return { _, exchange in exchange.answer(file) }
    }
  }
}
