import CheckoutKit
import SwiftUI
import UIKit
import UserNotifications

/// The app's session and places: there is one of each.
@MainActor enum Shop {
  static let checkout: CheckoutSession = {
    guard let relay = URL(string: "https://pay.example.com"),
      let page = URL(string: "https://buy.stripe.com/example")
    else { preconditionFailure("Not a URL") }
    let checkout = CheckoutSession.configure(
      relay: relay, app: "ios", credential: .clientKey("…"), scheme: ShopModel.scheme,
      pages: ["price_1MbK": page], userID: "jdo-1",
      attributes: { [:] },  // Purchasely.getBuiltInAttributes()
      reloadEntitlements: { await Entitlements.reload() })
    checkout.openInBrowser = { UIApplication.shared.open($0) }
    return checkout
  }()
  static let model = ShopModel(checkout: checkout)
}

/// In your app: what your backend, or the Purchasely SDK, says that the user has bought.
enum Entitlements {
  /// - Returns: whether the purchase is unlocked.
  static func reload() async -> Bool {
    guard let account = URL(string: "https://api.example.com/me/entitlements"),
      let (data, _) = try? await URLSession.shared.data(from: account),
      let names = try? JSONDecoder().decode([String].self, from: data)
    else { return false }
    return names.contains("premium")
  }
}

@main struct ShopApp: App {
  @UIApplicationDelegateAdaptor private var delegate: AppDelegate
  @Environment(\.scenePhase) private var phase

  var body: some Scene {
    WindowGroup {
      ShopView(checkout: Shop.checkout).onCheckoutLink { Shop.model.open($0) }
    }
    .onChange(of: phase) { phase in
      Shop.model.setActive(phase == .active)
      if phase == .background { delegate.enterBackground() }
    }
  }
}

struct ShopView: View {
  @ObservedObject var checkout: CheckoutSession

  var body: some View {
    VStack(spacing: 16) {
      Button("Buy in the browser") { checkout.buy("price_1MbK") }
      if let message = checkout.state.message {
        switch checkout.state {
        case .opening, .checking, .activating: ProgressView(message)
        case .confirmed: Label(message, systemImage: "checkmark.circle")
        default: Text(message)
        }
      }
      if let message = checkout.claim.message {
        Text(message)
        if checkout.claim.isQuestion {
          Button("Add the purchase") { checkout.addPurchase() }
          Button("Not now") { checkout.declinePurchase() }
        }
      }
    }
    .padding()
  }
}

/// Hands over what SwiftUI has no modifier for.
final class AppDelegate: NSObject, UIApplicationDelegate {
  private var background = UIBackgroundTaskIdentifier.invalid

  /// Asks for time to post what waits, while the browser is open.
  func enterBackground() {
    endBackground()
    background = UIApplication.shared.beginBackgroundTask { [weak self] in self?.endBackground() }
    Shop.checkout.outbox.flush { [weak self] _ in self?.endBackground() }
  }

  private func endBackground() {
    guard background != .invalid else { return }
    UIApplication.shared.endBackgroundTask(background)
    background = .invalid
  }

  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
  ) -> Bool {
    UNUserNotificationCenter.current().delegate = self
    return true
  }

  func application(
    _ application: UIApplication, configurationForConnecting session: UISceneSession,
    options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration {
    // The app was started by a quick action.
    if let item = options.shortcutItem { _ = Shop.model.performShortcut(item.type) }
    let configuration = UISceneConfiguration(name: nil, sessionRole: session.role)
    configuration.delegateClass = SceneDelegate.self
    return configuration
  }
}

extension AppDelegate: @preconcurrency UNUserNotificationCenterDelegate {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void
  ) {
    Shop.model.openNotification(response.notification.request.content.userInfo)
    completionHandler()
  }
}

final class SceneDelegate: NSObject, UIWindowSceneDelegate {
  func windowScene(
    _ windowScene: UIWindowScene, performActionFor item: UIApplicationShortcutItem,
    completionHandler: @escaping (Bool) -> Void
  ) {
    completionHandler(Shop.model.performShortcut(item.type))
  }
}
