// The links from the return page into the app. They are made from the configuration's origin, schemes and
// packages; the request contributes only a well-formed id. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats
internal import Store

extension PageWays {
  /// The links of a page, for one checkout on one device. There is no button if no app can be opened.
  /// - Parameters:
  ///   - name: identifies the checkout for the app; nil if there is none.
  ///   - app: the slug in the paths.
  ///   - package: the package that the request names; ignored unless it is configured.
  init(
    _ links: AppConfiguration.Links, app: AppSlug, name: CheckoutName?, device: ReturnDevice,
    package: PackageName? = nil, appName: String, words: PageWords
  ) {
    self.init(
      links, to: Self.target(app: app, name: name), opensOnApple: links.opensReturnPage(slug: app),
      device: device, package: package, appName: appName, words: words)
  }

  /// - Parameters:
  ///   - target: the path and query that the app is opened with.
  ///   - opensOnApple: whether that opens the app on Apple's systems.
  ///   - text: of the button.
  init(
    _ links: AppConfiguration.Links, to target: String, opensOnApple: Bool, device: ReturnDevice,
    package: PackageName? = nil, appName: String, words: PageWords, button text: PageWords.Key = .backTo
  ) {
    let opensHere = device != .computer
    let scheme = device == .android ? links.android?.scheme : links.ios?.scheme
    let custom = opensHere ? scheme.flatMap { Link($0, links.origin, target: target) } : nil
    let first = Self.link(
      links, target: target, opensOnApple: opensOnApple, device: device, package: package)
    if let link = first ?? (device == .iOS ? custom : nil) {
      button = .init(text: words[text].html(app: appName), link: link)
    }
    phone = Self.phone(links, target: target, device: device, appName: appName, words: words)
    if phone != nil, let button {
      phone?.here = .init(text: words[.onThisDevice].html(app: appName), link: button.link)
    }
    if let custom, button?.link != custom {
      others.append(.init(text: words[.otherWay].html(app: appName), link: custom))
    }
    if opensHere || phone == nil {
      others += Self.stores(links.returnPage, device: device, appName: appName, words: words)
    }
  }

  /// The path and query that the app is opened with.
  static func target(app: AppSlug, name: CheckoutName?) -> String {
    switch name {
    case .context(let id): Link("v1", app.text, "return", query: [("context_id", id.text)]).text
    case .session(let id): Link("v1", app.text, "return", query: [("session_id", id.text)]).text
    case .payment(let id): Link("v1", app.text, "return", query: [(ReturnPage.orderField, id.text)]).text
    case nil: Link("v1", app.text, "return").text
    }
  }

  /// The way for a customer at a computer: a code of the universal link. A phone opens the app with it, or
  /// this page, whose button fits the phone.
  private static func phone(
    _ links: AppConfiguration.Links, target: String, device: ReturnDevice, appName: String, words: PageWords
  ) -> Phone? {
    guard device == .computer || device == .other, links.ios != nil || links.android != nil,
      let link = Link(links.origin, target: target), let code = QRCode(link.text)
    else { return nil }
    return Phone(
      code: code, label: words[.codeLabel].text(app: appName), heading: words[.onPhone].html(app: appName),
      text: words[.scanCode].html(app: appName))
  }

  private static func stores(
    _ page: AppConfiguration.Links.ReturnPage?, device: ReturnDevice, appName: String, words: PageWords
  ) -> [PublicPage.Action] {
    var stores: [PublicPage.Action] = []
    if device != .android, let link = page?.iosStore.flatMap({ Link(https: $0) }) {
      stores.append(.init(text: words[.iosStore].html(app: appName), link: link))
    }
    if device != .iOS, let link = page?.androidStore.flatMap({ Link(https: $0) }) {
      stores.append(.init(text: words[.androidStore].html(app: appName), link: link))
    }
    return stores
  }

  /// The link that opens the app; nil if it would lead back to this page, because there is no app for the
  /// device, or the app does not open that URL.
  private static func link(
    _ links: AppConfiguration.Links, target: String, opensOnApple: Bool, device: ReturnDevice,
    package: PackageName?
  ) -> Link? {
    let universal = Link(links.origin, target: target)
    switch device {
    case .iOS: return opensOnApple ? universal : nil
    case .computer: return nil
    case .other: return opensOnApple || links.android != nil ? universal : nil
    case .android:
      return intent(links, target: target, package: package)
    }
  }

  /// Opens a package. Where it is not installed, the browser loads this page for the next one, and after the
  /// last the store.
  private static func intent(_ links: AppConfiguration.Links, target: String, package: PackageName?) -> Link?
  {
    let all = links.android?.packages.map(\.name) ?? []
    let packages = all[(package.flatMap(all.firstIndex) ?? 0)...]
    guard let first = packages.first else { return nil }
    let next = packages.dropFirst().first.flatMap { next in
      Link(
        links.origin, target: "\(target)\(target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")package=\(next)"
      )
    }
    let last = links.returnPage?.androidStore ?? Link(links.origin, target: target)?.text
    return IntentURL(origin: links.origin, target: target, package: first, fallback: next?.text ?? last)
      .map(Link.init)
  }
}

// MARK: - ReturnDevice

// The customer's operating system, as far as `User-Agent` shows it. Pure; called from any thread.

/// The kind of the customer's device.
enum ReturnDevice: Sendable, CaseIterable {
  case iOS, android
  /// A computer that opens no app of a phone.
  case computer
  /// Probably a computer. It may also be an iPad, whose Safari says that it is a Mac, or a phone that
  /// requests pages for computers and says that it runs Linux: the stylesheet decides by the pointer.
  case other

  /// - Parameter userAgent: the header's value; it permits only a guess (RFC 9110 §10.1.5).
  init(userAgent: String?) {
    let text = userAgent ?? ""
    if text.contains("Android") {
      self = .android
    } else if text.contains("iPhone") || text.contains("iPad") || text.contains("iPod") {
      self = .iOS
    } else if text.contains("Windows NT") {
      self = .computer
    } else {
      self = .other
    }
  }
}
