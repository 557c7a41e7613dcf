// The page of a claim's link, for customers whose device does not open the app with it. Scanners of mails and
// previews of messengers open it, too: it only reads, and says nothing about the user. libmicrohttpd's
// threads.

internal import Config
public import Domain
internal import Formats
internal import HTTPServer
internal import Service
public import Store

/// Answers requests for the page of a claim.
public struct ClaimPage: Sendable {
  /// Returns the receipt of a claim that can still be used. The request id is for the log.
  /// - Throws: `StoreFault` if the store cannot be read.
  public typealias Find =
    @Sendable (_ token: ClaimToken, _ app: AppSlug, _ requestID: String) throws(StoreFault) -> ReceiptID?

  let find: Find
  let summarize: ReturnPage.Summarize

  /// Answers with the page of a token. A token that is unknown, was used or has expired has the same page.
  /// - Parameter text: what the path has as the token.
  func answer(
    _ head: RequestHead, _ text: String, _ app: App, _ exchange: Exchange
  ) {
    let requestID = exchange.scope.requestID
    let token = ClaimToken(text)
    var item: String?
    var isOpen = false
    do throws(StoreFault) {
      if let token, let receiptID = try find(token, app.slug, requestID) {
        isOpen = true
        item = summarize(receiptID, app.slug, requestID)?.item
      }
    } catch {
      // The app asks again with the same token.
      isOpen = token != nil
    }
    var response = Self.page(
      isOpen ? token : nil, app.links, app: app.slug, item: item,
      device: ReturnDevice(userAgent: head.header("User-Agent")), package: ReturnPage.package(in: head),
      language: PageLanguage(preferredIn: head.headers("Accept-Language"))
    ).response()
    response.headers.append(("X-Robots-Tag", "noindex, nofollow"))
    exchange.answer(response)
  }

  /// - Parameters:
  ///   - token: nil for a token that cannot be used.
  ///   - links: nil for an app without links, whose page opens nothing.
  static func page(
    _ token: ClaimToken?, _ links: AppConfiguration.Links?, app: AppSlug, item: String? = nil,
    device: ReturnDevice, package: PackageName? = nil, language: PageLanguage
  ) -> PublicPage {
    let words = language.words
    let appName = links?.returnPage?.name ?? app.text
    let target = token.map { AppConfiguration.Links.claimPath($0, slug: app) }
    let ways = links.map { links in
      PageWays(
        links, to: target ?? PageWays.target(app: app, name: nil),
        opensOnApple: token.map { links.opensClaim($0, slug: app) } ?? links.opensReturnPage(slug: app),
        device: device, package: package, appName: appName, words: words, button: .onThisDevice)
    }
    let heading = words[token == nil ? .claimGoneHeading : .claimHeading]
    return PublicPage(
      language: language.tag, title: "\(heading.text) · \(appName)", heading: HTML(text: heading.text),
      sentences: [words[token == nil ? .claimGoneText : .claimText].html(app: appName)],
      ways: ways ?? PageWays(), appName: appName, logo: links?.picture(of: app),
      accent: links?.returnPage?.accent,
      tone: token == nil ? .attention : .neutral,
      details: item.map { ReturnPage.details(PurchaseSummary(item: $0), words, language.formats) } ?? [],
      help: links?.returnPage?.support.flatMap { ReturnPage.help($0, nil, appName, words) })
  }
}
