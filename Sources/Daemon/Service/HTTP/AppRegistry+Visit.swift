// Finds the app that a request's path names. Called from any thread.

public import Domain
public import HTTPServer

extension AppRegistry {
  /// The app of the path's segment `{app}`.
  public func app(of visit: Visit) throws(Problem) -> App {
    guard let app = visit["app"].flatMap({ current[AppSlug($0)] }) else { throw .unknownApp }
    return app
  }

  /// Makes a handler that uses the app's configuration at the time when the request is complete: a reload may
  /// have changed or removed the app while the body arrived.
  public func handler(
    of slug: AppSlug, _ handle: @escaping @Sendable (Request, App, Exchange) -> Void
  ) -> Route.Handler {
    { request, exchange in
      guard let app = self.current[slug] else { return exchange.answer(.unknownApp) }
      handle(request, app, exchange)
    }
  }
}
