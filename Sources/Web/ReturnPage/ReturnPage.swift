// The page that checkout pages redirect to, shown if the app does not open. It only reads, so a reload is
// safe. libmicrohttpd's threads.

public import Config
public import Domain
internal import Formats
public import HTTPServer
internal import Platform
public import Service
public import Store

/// Answers requests for an app's return page.
public struct ReturnPage: Sendable {
  /// Returns the status of the checkout of each name; nil for one that is not known. The request id is for
  /// the log.
  public typealias Find =
    @Sendable (
      _ names: [CheckoutName], _ app: AppSlug, _ requestID: String
    ) throws(StoreFault) -> [CheckoutStatus?]

  /// Returns what was bought with a receipt's purchase, if it is known. The request id is for the log.
  public typealias Summarize =
    @Sendable (_ receiptID: ReceiptID, _ app: AppSlug, _ requestID: String) -> PurchaseSummary?

  let find: Find
  let summarize: Summarize
  let clock: any Clock

  /// The longest session id that is looked up, in bytes; a processor's ids are shorter.
  static let sessionIDBytesMax = 255
  /// The field with a payment's id, which Afterpay adds to the addresses that customers return to.
  static let orderField = "orderToken"
  /// The longest part of an item's name that is shown, in bytes of UTF-8: a character may have any number.
  static let itemBytesMax = 200
  /// The refresh interval if the checkout's age is unknown.
  static let unknownAgeSeconds = 10

  /// Answers with the page of a checkout.
  /// - Parameters:
  ///   - links: of the app.
  ///   - claim: the claim in the path; nil to use the query's.
  public func answer(
    _ head: RequestHead, _ app: App, _ links: AppConfiguration.Links, _ exchange: Exchange,
    claim: ReturnOutcome.Claim? = nil
  ) {
    let names = Self.names(head.query)
    let back = names.isEmpty ? claim.map(ReturnOutcome.Back.init) : nil
    let claim = claim ?? Self.claim(head.query)
    var status = 200
    var outcome = names.contains { $0.isOfProcessor } ? ReturnOutcome(unheardOf: claim) : .unknown
    var seconds = Self.unknownAgeSeconds
    var name = names.first
    var (reference, summary): (String?, PurchaseSummary?)
    var offered: SessionID?
    do throws(StoreFault) {
      let statuses = try find(names, app.slug, exchange.scope.requestID)
      let checkout = Self.deciding(Array(zip(names, statuses)))
      name = checkout?.name ?? name
      if let found = checkout?.status {
        outcome = ReturnOutcome(found, claim: claim)
        seconds = Self.refreshSeconds(
          age: Timestamp(unixMilliseconds: clock.wallMilliseconds).duration(since: found.begunAt))
        // The app captures a payment by its own id.
        if name?.isOfPayment != true { name = found.contextID.map(CheckoutName.context) ?? name }
        reference = Self.reference(found)
        let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
        if case .session(let id) = name, found.offersClaim(now: now) { offered = id }
        if outcome.isComplete {
          summary = found.receiptID.flatMap { summarize($0, app.slug, exchange.scope.requestID) }
        }
      }
    } catch {
      (status, outcome) = (503, .unavailable)
    }
    let page = Self.page(
      outcome, links, app: app.slug, name: name, back: back, offered: offered, reference: reference,
      summary: summary, device: ReturnDevice(userAgent: head.header("User-Agent")),
      package: Self.package(in: head),
      language: PageLanguage(preferredIn: head.headers("Accept-Language")), refreshSeconds: seconds)
    var response = page.response(status: status)
    if status == 503 { response.headers.append(("Retry-After", String(Self.unknownAgeSeconds))) }
    exchange.answer(response)
  }

  static func page(
    _ outcome: ReturnOutcome, _ links: AppConfiguration.Links, app: AppSlug, name: CheckoutName?,
    back: ReturnOutcome.Back? = nil, offered: SessionID? = nil, reference: String? = nil,
    summary: PurchaseSummary? = nil,
    device: ReturnDevice, package: PackageName? = nil, language: PageLanguage, refreshSeconds: Int
  ) -> PublicPage {
    let words = language.words
    let appName = links.returnPage?.name ?? app.text
    var ways = PageWays(
      links, app: app, name: name, device: device, package: package, appName: appName, words: words)
    ways.offer = offered.map { session in
      PageWays.Offer(
        text: words[.claimOffer].html(app: appName), button: words[.claimButton].text,
        link: Link("v1", app.text, "return", "claim"), field: ("session_id", session.text))
    }
    let message =
      outcome.success(summary).map { words[$0] }
      ?? (outcome == .unknown ? back.map { words[$0] } : nil) ?? words[outcome]
    var sentences = [message.text.html(app: appName)]
    if ways.button == nil, ways.phone == nil {
      sentences.append(words[.canCloseAndGoBack].html(app: appName))
    }
    return PublicPage(
      language: language.tag, title: "\(message.heading.text(app: appName)) · \(appName)",
      heading: message.heading.html(app: appName), sentences: sentences, ways: ways,
      updates: outcome.isUnderWay
        ? .init(seconds: refreshSeconds, note: words[.updatesItself].text, again: words[.checkAgain].text)
        : nil,
      appName: appName,
      logo: links.picture(of: app),
      accent: links.returnPage?.accent, tone: outcome.tone,
      details: summary.map { Self.details($0, words, language.formats) } ?? [],
      help: links.returnPage?.support.flatMap { Self.help($0, reference, appName, words) })
  }

  /// Of the checkouts that the address names, the one whose state the page shows: a paid one before all
  /// others, because the context beside it may belong to another identity of the customer. One that has ended
  /// comes after a session whose first event is probably on its way.
  /// - Returns: nil if none is known.
  static func deciding(
    _ checkouts: [(name: CheckoutName, status: CheckoutStatus?)]
  ) -> (name: CheckoutName, status: CheckoutStatus?)? {
    guard checkouts.contains(where: { $0.status != nil }) else { return nil }
    func weight(_ name: CheckoutName, _ status: CheckoutStatus?) -> Int {
      guard let status else { return name.isOfProcessor ? 2 : 0 }
      if status.paid { return 5 }
      if status.state.isFinal { return 1 }
      return status.reason == .payment ? 4 : 3
    }
    // The first of those with equal weights.
    let best = checkouts.enumerated().max { left, right in
      let weights = (
        weight(left.element.name, left.element.status), weight(right.element.name, right.element.status)
      )
      return (weights.0, right.offset) < (weights.1, left.offset)
    }
    return best?.element
  }

  /// Names and values of what was bought, each isolated from the direction of the page.
  static func details(
    _ summary: PurchaseSummary, _ words: PageWords, _ formats: PageFormats
  ) -> [(name: String, value: HTML)] {
    var details: [(name: String, value: HTML)] = []
    func add(_ name: PageWords.Key, _ value: HTML) { details.append((words[name].text, value)) }
    if let item = summary.item {
      add(.item, Tag.bdi { UntrustedText.start(of: item, bytesMax: itemBytesMax) })
    }
    if let money = summary.money { add(.amount, Tag.bdi { formats.text(money) }) }
    if let at = summary.at {
      // The customer's time zone is unknown: the date of UTC.
      let date = String(RFC3339.string(unixMilliseconds: at.unixMilliseconds).prefix { $0 != "T" })
      add(.date, Tag.time(.datetime(date)) { formats.text(date: date) })
    }
    return details
  }

  static func help(
    _ support: AppConfiguration.Links.Support, _ reference: String?, _ appName: String, _ words: PageWords
  ) -> PublicPage.Help? {
    let subject = [appName, reference].compactMap(\.self).joined(separator: " · ")
    let link: Link? =
      switch support {
      case .page(let url): Link(https: url)
      case .address(let address): Link(mailTo: address, subject: subject)
      }
    return link.map {
      PublicPage.Help(
        text: words[.support].text, link: $0, reference: reference.map { (words[.reference].text, $0) })
    }
  }

  /// What an operator's search finds the checkout by, without the prefix: the id of the receipt, which opens
  /// nothing. Before there is one it is the id of the context, which is in this page's address, too.
  static func reference(_ status: CheckoutStatus) -> String? {
    (status.receiptID?.text ?? status.contextID?.text).map { String(IDText.core($0)) }
  }

  /// The merchant's picture. An SVG that is opened on its own is a document: it may run and load nothing.
  static func answer(_ logo: AppConfiguration.Links.Logo, to head: RequestHead) -> Response {
    let file = StaticFile(logo.bytes, type: logo.format.rawValue, digest: logo.digest)
    var response = file.response(to: head)
    response.headers.append(
      ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"))
    return response
  }

  /// The refresh interval: short while a customer is likely to watch the page, longer later.
  static func refreshSeconds(age: Duration) -> Int {
    switch age {
    case ..<(.minutes(2)): 3
    case ..<(.minutes(10)): 5
    case ..<(.hours(1)): 15
    default: 60
    }
  }

  /// The well-formed ids in a query; nothing else of it gets into the page.
  static func names(_ query: String?) -> [CheckoutName] {
    var names: [CheckoutName] = []
    if let id = value("context_id", query).map(ContextID.init), id.isWellFormed { names.append(.context(id)) }
    if let id = value("session_id", query), isSessionID(id) { names.append(.session(SessionID(id))) }
    if let id = value(orderField, query), isPaymentID(id) { names.append(.payment(ObjectID(id))) }
    return names
  }

  /// What a checkout page claims in the query: `result` of the relay's own addresses, or `status` of
  /// Afterpay's, where everything but a success is a return without a confirmation.
  static func claim(_ query: String?) -> ReturnOutcome.Claim? {
    if let result = value("result", query) { return ReturnOutcome.Claim(rawValue: result) }
    return value("status", query).map { $0 == "SUCCESS" ? .success : .cancel }
  }

  private static func isPaymentID(_ text: String) -> Bool {
    (1...sessionIDBytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy { isIDByte($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "~") }
  }

  private static func isSessionID(_ text: String) -> Bool {
    text.hasPrefix("cs_") && (4...sessionIDBytesMax).contains(text.utf8.count)
      && text.utf8.allSatisfy(isIDByte)
  }

  private static func isIDByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The package that a browser on Android was sent here to try.
  static func package(in head: RequestHead) -> PackageName? {
    value("package", head.query).flatMap { try? PackageName($0) }
  }

  private static func value(_ name: String, _ query: String?) -> String? {
    // An undecodable query names nothing; the customer gets a page in any case.
    query.flatMap { try? FormFields.value(of: name, in: $0.utf8.span) }
  }
}

extension AppConfiguration.Links {
  /// The merchant's picture at the top of its pages.
  func picture(of app: AppSlug) -> PublicPage.Picture? {
    returnPage?.logo.map { _ in
      PublicPage.Picture(
        link: Link("v1", app.text, "return", "logo"), text: returnPage?.name ?? app.text)
    }
  }
}

extension CheckoutName {
  fileprivate var isOfProcessor: Bool { if case .session = self { true } else { false } }
  fileprivate var isOfPayment: Bool { if case .payment = self { true } else { false } }
}

extension ReturnOutcome {
  /// A checkout without an event: its first event is probably on its way.
  fileprivate init(unheardOf claim: Claim?) { self = claim == .cancel ? .noPaymentYet : .waiting }
}
