// Swedbank Pay's payment URL helpers: where its payment page sends people, so that the app opens. Each answer
// depends on the configuration and the request's target alone: nothing is written, nothing is asked, no field
// of the request decides where anybody is led. Pure; any thread.

internal import AppLinks
internal import HTML
internal import HTTPServer

/// The helpers of one app.
struct SwedbankHelpers {
  private let app: String
  private let links: AppConfiguration.Links
  private let settings: AppConfiguration.Links.Swedbank

  /// - Returns: nil for an app that has none.
  init?(_ app: App) {
    guard let links = app.links, let settings = links.swedbank else { return nil }
    self.app = app.slug
    self.links = links
    self.settings = settings
  }

  /// Answers a request to a helper.
  func response(to helper: SwedbankHelper, _ head: RequestHead) -> Result<Response, Problem> {
    result { () throws(CallbackFault) in
      switch helper {
      case .androidIntent: try androidIntent(head)
      case .iosUniversalLink: try iosUniversalLink(head)
      case .complete, .cancel: returnPage(head)
      }
    }
  }

  private func androidIntent(_ head: RequestHead) throws(CallbackFault) -> Response {
    let target = try CallbackTarget(head.originTarget)
    let url = try AndroidPaymentURL(target, origin: links.origin, packages: settings.packages)
    return page(button: Link(url.intent), opensByItself: true).response()
  }

  private func iosUniversalLink(_ head: RequestHead) throws(CallbackFault) -> Response {
    let target = try CallbackTarget(head.originTarget)
    let url = try IOSPaymentURL(target, origin: links.origin, schemes: settings.schemes)
    return Response(
      status: settings.redirect.rawValue,
      headers: [
        ("Location", url.location(trampoline: settings.trampoline)), ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
      ])
  }

  /// Where the merchant's complete and cancel URLs lead. What was paid is not known here.
  private func returnPage(_ head: RequestHead) -> Response {
    page(button: nil, opensByItself: false).response()
  }

  /// Answers a request to the page on a second host, from which the universal link opens the app.
  func trampoline(_ head: RequestHead) -> Result<Response, Problem> {
    result { () throws(CallbackFault) in
      let request = try CallbackTarget(head.originTarget, byteCountMax: BackLink.targetByteCountMax)
      let back = try BackLink(request, origin: links.origin, root: "/v1/\(app)/swedbank/sdk-callback/")
      return page(button: Link(links.origin, target: back.target), opensByItself: false).response()
    }
  }

  private func result(_ body: () throws(CallbackFault) -> Response) -> Result<Response, Problem> {
    do throws(CallbackFault) {
      return .success(try body())
    } catch {
      return .failure(.invalid("badrequest", error.description))
    }
  }

  private func page(button: Link?, opensByItself: Bool) -> PublicPage {
    let name = links.returnPage?.name
    let back = name.map { "Back to \($0)" } ?? "Back to the app"
    return PublicPage(
      language: "en", title: back, heading: back,
      sentences: ["Your payment goes on in the app."],
      button: button.map { PublicPage.Action(text: back, link: $0) },
      refresh: opensByItself ? button.map { .init(seconds: 0, link: $0) } : nil)
  }
}
