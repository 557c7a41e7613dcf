import CheckoutKit
import UIKit

/// The shop's outbox and model: there is one of each.
@MainActor enum Shop {
  private static let relay: RelayClient = {
    guard let origin = URL(string: "https://pay.example.com") else { preconditionFailure("Not a URL") }
    return RelayClient(relay: origin, app: "ios", credential: .clientKey("…"))
  }()
  static let outbox: CheckoutOutbox = {
    let pages = ["price_1MbK…": URL(string: "https://buy.stripe.com/…")]
    return CheckoutOutbox(
      relay: relay, pages: { pages[$0.stripePriceID] ?? nil },
      onOutcome: { outcome in Task { @MainActor in Shop.model.note(outcome) } })
  }()
  static let model: ShopModel = {
    let key = "checkout.open"
    let model = ShopModel(
      relay: relay, outbox: outbox, userID: "jdo-1", attributes: { [:] },
      checkouts: OpenCheckouts(data: UserDefaults.standard.data(forKey: key)))
    model.keepCheckouts = { UserDefaults.standard.set($0.data, forKey: key) }
    model.openInBrowser = { UIApplication.shared.open($0) }
    return model
  }()
}

@main final class ShopDelegate: UIResponder, UIApplicationDelegate {
  func application(
    _ application: UIApplication, configurationForConnecting session: UISceneSession,
    options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration {
    let configuration = UISceneConfiguration(name: nil, sessionRole: session.role)
    configuration.delegateClass = ShopScene.self
    return configuration
  }
}

/// Passes links and the scene's phases to the model.
final class ShopScene: UIResponder, UIWindowSceneDelegate {
  var window: UIWindow?
  private var background = UIBackgroundTaskIdentifier.invalid

  func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions
  ) {
    guard let scene = scene as? UIWindowScene else { return }
    let window = UIWindow(windowScene: scene)
    window.rootViewController = ShopController(model: Shop.model)
    window.makeKeyAndVisible()
    self.window = window
    // A link that launched the app is here, and calls none of the functions below.
    for context in options.urlContexts { Shop.model.open(context.url) }
    for activity in options.userActivities { self.scene(scene, continue: activity) }
  }

  func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {
    for context in contexts { Shop.model.open(context.url) }
  }

  func scene(_ scene: UIScene, continue activity: NSUserActivity) {
    Shop.model.continueActivity(activity.activityType, activity.webpageURL)
  }

  func sceneDidBecomeActive(_ scene: UIScene) { Shop.model.setActive(true) }

  func sceneWillResignActive(_ scene: UIScene) { Shop.model.setActive(false) }

  /// Asks for time to post what waits, while the browser is open.
  func sceneDidEnterBackground(_ scene: UIScene) {
    endBackground()
    background = UIApplication.shared.beginBackgroundTask { [weak self] in self?.endBackground() }
    Shop.outbox.flush { [weak self] _ in self?.endBackground() }
  }

  private func endBackground() {
    guard background != .invalid else { return }
    UIApplication.shared.endBackgroundTask(background)
    background = .invalid
  }
}
