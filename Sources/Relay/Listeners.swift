// The two listeners: their routes, and who may use them.

internal import Dashboard
internal import HTTPServer
internal import HTTPService
internal import Intake
internal import PublicPages
internal import Telemetry

extension Router {
  /// For apps, payment processors, customers and devices.
  static func `public`(services: ListenerServices, intake: IntakeRoutes, pages: PublicPageRoutes) -> Router {
    Router(services: services, routes: intake.routes + pages.routes)
  }

  /// For operators and their machines. Without the password, the answers do not disclose which paths exist.
  static func admin(
    services: ListenerServices, access: AdminAccess, probes: ProbeRoutes, dashboard: Dashboard
  ) -> Router {
    Router(services: services, routes: probes.routes + dashboard.routes) { head, route throws(Problem) in
      if let route, ProbeRoutes.openLabels.contains(route.label) { return "" }
      do throws(Problem) {
        return try access.visitor(head).get()
      } catch {
        if error == .passwordNeeded, head.header("Authorization") != nil {
          services.requestLog.refusedPassword(from: head.remoteAddress)
        }
        throw error
      }
    } refusal: { problem, route, requestID in
      // A browser gets a page, also for an unknown path.
      route.map { $0.label == Dashboard.label } ?? true
        ? problem.page(requestID: requestID) : problem.response(requestID: requestID)
    }
  }
}
