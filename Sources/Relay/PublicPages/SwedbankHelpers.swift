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
    return page(Self.language(of: head), button: Link(url.intent), opensItself: true).response()
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
    let language = Self.language(of: head)
    let (words, name) = (language.words, links.returnPage?.name ?? app)
    let heading = words.unknown.heading.text(app: name)
    return PublicPage(
      language: language.tag, title: heading, heading: heading,
      sentences: [words.unknown.text.text(app: name), words.canCloseAndGoBack.text(app: name)]
    ).response()
  }

  /// Answers a request to the page on a second host, from which the universal link opens the app.
  func trampoline(_ head: RequestHead) -> Result<Response, Problem> {
    result { () throws(CallbackFault) in
      let request = try CallbackTarget(head.originTarget, byteCountMax: BackLink.targetByteCountMax)
      let back = try BackLink(request, origin: links.origin, root: "/v1/\(app)/swedbank/sdk-callback/")
      guard let button = Link(links.origin, target: back.target) else { throw .impureTarget }
      let language = back.language.map { PageLanguage(tag: $0) } ?? Self.language(of: head)
      return page(language, button: button, opensItself: false).response()
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

  /// A page whose only purpose is to lead back.
  private func page(_ language: PageLanguage, button: Link, opensItself: Bool) -> PublicPage {
    let words = language.words
    return PublicPage(
      language: language.tag, title: words.payment, heading: words.backToApp,
      sentences: [opensItself ? words.opensItself : words.goOnInApp],
      button: .init(
        text: links.returnPage.map { words.backTo.text(app: $0.name) } ?? words.backToApp, link: button),
      refresh: opensItself ? .init(seconds: 0, link: button) : nil)
  }
}
