import CheckoutKit
import UIKit

/// The app's session and places: there is one of each.
@MainActor enum Shop {
  static let checkout: CheckoutSession = {
    guard let relay = URL(string: "https://pay.example.com"),
      let page = URL(string: "https://buy.stripe.com/example")
    else { preconditionFailure("Not a URL") }
    let checkout = CheckoutSession.configure(
      relay: relay, app: "ios", credential: .clientKey("…"), scheme: ShopModel.scheme,
      pages: ["price_1MbK": page], userID: Account.profile, attributes: { [:] },
      reloadEntitlements: { await Account.reload() })
    checkout.openInBrowser = { UIApplication.shared.open($0) }
    return checkout
  }()
  static let model = ShopModel(checkout: checkout)
}

/// In your app: the profile that is signed in, and its entitlements at your backend.
@MainActor enum Account {
  static var profile = "jdo-1"

  /// - Returns: whether the purchase is unlocked.
  static func reload() async -> Bool {
    guard let address = URL(string: "https://api.example.com/me/entitlements"),
      let (data, _) = try? await URLSession.shared.data(from: address),
      let names = try? JSONDecoder().decode([String].self, from: data)
    else { return false }
    return names.contains("premium")
  }

  /// Registers the quick actions of a profile, and removes those of the previous one.
  static func signIn(_ profile: String) {
    self.profile = profile
    Shop.checkout.logIn(profile)
    UIApplication.shared.shortcutItems = [
      UIApplicationShortcutItem(
        type: "com.example.app.plans", localizedTitle: "Plans", localizedSubtitle: nil, icon: nil,
        userInfo: ["profile": profile as NSString])
    ]
  }

  /// Opens a quick action, unless it was registered for another profile.
  static func perform(_ item: UIApplicationShortcutItem) -> Bool {
    guard item.userInfo?["profile"] as? String == profile else { return false }
    return Shop.model.performShortcut(item.type)
  }
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

  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
  ) -> Bool {
    application.registerForRemoteNotifications()
    // In your app: after the sign-in.
    Account.signIn(Account.profile)
    return true
  }

  /// A background push (`content-available`) posts what waits and asks for the states. It never navigates.
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    await Shop.checkout.refresh()
    return .newData
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
    window.rootViewController = ShopController(checkout: Shop.checkout)
    window.makeKeyAndVisible()
    self.window = window
    // A link that launched the app is here, and calls none of the functions below.
    for context in options.urlContexts { Shop.model.open(context.url) }
    for activity in options.userActivities { self.scene(scene, continue: activity) }
    if let item = options.shortcutItem { _ = Account.perform(item) }
  }

  func windowScene(
    _ windowScene: UIWindowScene, performActionFor item: UIApplicationShortcutItem,
    completionHandler: @escaping (Bool) -> Void
  ) {
    completionHandler(Account.perform(item))
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
    Shop.checkout.outbox.flush { [weak self] _ in self?.endBackground() }
  }

  private func endBackground() {
    guard background != .invalid else { return }
    UIApplication.shared.endBackgroundTask(background)
    background = .invalid
  }
}
