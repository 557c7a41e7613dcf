// The app that a request's path names. Any thread.

public import Apps
public import HTTPServer

extension AppRegistry {
  /// The app of the path's segment `{app}`.
  public func app(of visit: Visit) throws(Problem) -> App {
    guard let app = visit["app"].flatMap({ current[$0] }) else { throw .unknownApp }
    return app
  }

  /// Answers for an app as it is configured when the request is complete: it may have been changed, or taken
  /// out of the configuration, while the body came in.
  public func handler(
    of slug: String, _ handle: @escaping @Sendable (Request, App, Exchange) -> Void
  ) -> Route.Handler {
    { request, exchange in
      guard let app = self.current[slug] else { return exchange.answer(.unknownApp) }
      handle(request, app, exchange)
    }
  }
}
