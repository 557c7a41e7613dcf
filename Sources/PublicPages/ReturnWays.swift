// The ways from the return page into the app. Every address is made of the configuration's origin, schemes
// and packages; of the request there is only a well-formed id in it. Pure; any thread.

internal import AppLinks
internal import Configuration
internal import HTML
internal import Store

/// Where a page may lead, for one checkout on one device.
struct ReturnWays {
  /// Nil where there is no app to lead to.
  var button: PublicPage.Action?
  var others: [PublicPage.Action] = []

  /// - Parameters:
  ///   - name: of the checkout, to be found again by the app; nil when there is none.
  ///   - app: its name in the paths.
  init(
    _ links: AppConfiguration.Links, app: String, name: CheckoutName?, device: ReturnDevice,
    appName: String, words: PageWords
  ) {
    let target = Self.target(app: app, name: name)
    let stores = links.returnPage
    let custom =
      device == .android ? nil : links.ios?.scheme.flatMap { Link($0, links.origin, target: target) }
    let first = Self.link(links, app: app, target: target, device: device)
    if let link = first ?? (device == .iOS ? custom : nil) {
      button = .init(text: words.backTo.text(app: appName), link: link)
    }
    if let custom, button?.link != custom {
      others.append(.init(text: words.otherWay.text(app: appName), link: custom))
    }
    if device != .android, let link = stores?.iosStore.flatMap({ Link(https: $0) }) {
      others.append(.init(text: words.iosStore.text(app: appName), link: link))
    }
    if device != .iOS, let link = stores?.androidStore.flatMap({ Link(https: $0) }) {
      others.append(.init(text: words.androidStore.text(app: appName), link: link))
    }
  }

  /// What the app is opened with, from the slash on.
  static func target(app: String, name: CheckoutName?) -> String {
    switch name {
    case .context(let id): Link("v1", app, "return", query: [("context_id", id)]).text
    case .session(let id): Link("v1", app, "return", query: [("session_id", id)]).text
    case nil: Link("v1", app, "return").text
    }
  }

  /// By the address of this page or the name of the app; nil where that would lead back to this page, because
  /// the app is not made for the device, or does not open that address.
  private static func link(
    _ links: AppConfiguration.Links, app: String, target: String, device: ReturnDevice
  ) -> Link? {
    let universal = Link(links.origin, target: target)
    switch device {
    case .iOS: return links.opensReturnPage(slug: app) ? universal : nil
    case .other: return links.opensReturnPage(slug: app) || links.android != nil ? universal : nil
    case .android:
      guard let package = links.android?.packages.first?.name else { return nil }
      let intent = IntentURL(
        origin: links.origin, target: target, package: package,
        fallback: links.returnPage?.androidStore ?? universal?.text)
      return intent.map(Link.init)
    }
  }
}
