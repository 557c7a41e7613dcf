// Swedbank Pay's payment URL helpers: its payment page redirects customers here, and the answer opens the
// app. Where an answer leads depends only on the configuration and the request's target, never on a header.
// Nothing is written. libmicrohttpd's threads.

internal import Config
public import Formats
public import HTTPServer
public import Service

/// The helpers of one app.
public struct SwedbankHelpers {
  private let app: App
  private let links: AppConfiguration.Links
  private let settings: AppConfiguration.Links.Swedbank

  /// - Returns: nil for an app without helpers.
  public init?(_ app: App) {
    guard let links = app.links, let settings = links.swedbank else { return nil }
    self.app = app
    self.links = links
    self.settings = settings
  }

  /// Answers a request to a helper. The merchant's complete and cancel URLs lead to the return page, which
  /// knows the payment's state only if the URL has a context id; otherwise it says which URL it was.
  public func answer(
    _ helper: SwedbankHelper, _ head: RequestHead, _ exchange: Exchange, _ returnPage: ReturnPage
  ) {
    switch helper {
    case .androidIntent: exchange.answer(androidIntent(head))
    case .iosUniversalLink: exchange.answer(iosUniversalLink(head))
    case .complete: returnPage.answer(head, app, links, exchange, claim: .success)
    case .cancel: returnPage.answer(head, app, links, exchange, claim: .cancel)
    }
  }

  /// The page that opens the app on Android.
  func androidIntent(_ head: RequestHead) -> Result<Response, Problem> {
    result { () throws(CallbackFault) in
      let target = try CallbackTarget(head.originTarget)
      let url = try AndroidPaymentURL(target, origin: links.origin, packages: settings.packages)
      return page(Self.language(of: head), button: Link(url.intent), opensItself: true)
    }
  }

  /// The redirect that opens the app, for a universal link that a browser opened.
  func iosUniversalLink(_ head: RequestHead) -> Result<Response, Problem> {
    result { () throws(CallbackFault) in
      let target = try CallbackTarget(head.originTarget)
      let url = try IOSPaymentURL(target, origin: links.origin, schemes: settings.schemes)
      return Response(
        status: settings.redirect.rawValue,
        headers: [
          ("Location", url.location(trampoline: settings.trampoline)), ("Cache-Control", "no-store"),
          ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
        ])
    }
  }

  /// Answers a request to the page on a second host, from which the universal link opens the app.
  public func trampoline(_ head: RequestHead) -> Result<Response, Problem> {
    result { () throws(CallbackFault) in
      let request = try CallbackTarget(head.originTarget, byteCountMax: BackLink.targetByteCountMax)
      let back = try BackLink(request, origin: links.origin, root: "/v1/\(app.slug)/swedbank/sdk-callback/")
      guard let button = Link(links.origin, target: back.target) else { throw .impureTarget }
      let language = back.language.map { PageLanguage(tag: $0) } ?? Self.language(of: head)
      return page(language, button: button, opensItself: false)
    }
  }

  private static func language(of head: RequestHead) -> PageLanguage {
    PageLanguage(preferredIn: head.headers("Accept-Language"))
  }

  private func result(_ body: () throws(CallbackFault) -> Response) -> Result<Response, Problem> {
    do throws(CallbackFault) {
      return .success(try body())
    } catch {
      return .failure(.invalid("badrequest", error.description))
    }
  }

  /// A page that only leads back. It does not show the payment's outcome.
  private func page(_ language: PageLanguage, button: Link, opensItself: Bool) -> Response {
    let words = language.words
    let name = links.returnPage?.name
    let page = PublicPage(
      language: language.tag,
      title: [words[.payment].text, name].compactMap(\.self).joined(separator: " · "),
      heading: HTML(text: words[.backToApp].text),
      sentences: [HTML(text: words[opensItself ? .opensItself : .goOnInApp].text)],
      ways: .init(
        button: .init(
          text: name.map { words[.backTo].html(app: $0) } ?? HTML(text: words[.backToApp].text), link: button)
      ),
      refresh: opensItself ? .init(seconds: 0, link: button) : nil, appName: name)
    return page.response()
  }
}
