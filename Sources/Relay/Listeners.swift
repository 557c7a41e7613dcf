// The two listeners: which routes each has, and who may use them.

internal import Dashboard
internal import HTTPServer
internal import HTTPService
internal import Intake
internal import PublicPages
internal import Telemetry

extension Router {
  /// Apps, payment processors, people and devices.
  static func `public`(services: ListenerServices, intake: IntakeRoutes, pages: PublicPageRoutes) -> Router {
    Router(services: services, routes: intake.routes + pages.routes)
  }

  /// Operators and their machines. Without the password they do not even learn which paths there are.
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
      // A person sees a page, also at a path that there is not.
      route.map { $0.label == Dashboard.label } ?? true
        ? problem.page(requestID: requestID) : problem.response(requestID: requestID)
    }
  }
}
