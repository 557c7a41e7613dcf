import CheckoutKit
import SwiftUI
import UIKit
import UserNotifications

/// The model's state, for views.
@MainActor final class Shop: ObservableObject {
  static let shared = Shop()

  @Published private(set) var state = ShopModel.State()
  let model: ShopModel
  private let outbox: CheckoutOutbox
  private var background = UIBackgroundTaskIdentifier.invalid

  private init() {
    guard let origin = URL(string: "https://pay.example.com") else { preconditionFailure("Not a URL") }
    let relay = RelayClient(relay: origin, app: "ios", credential: .clientKey("…"))
    // The pages for when the relay cannot be reached; the relay's own take precedence.
    let pages = ["price_1MbK…": URL(string: "https://buy.stripe.com/…")]
    outbox = CheckoutOutbox(
      relay: relay, pages: { pages[$0.stripePriceID] ?? nil },
      onOutcome: { outcome in Task { @MainActor in Shop.shared.model.note(outcome) } })
    let key = "checkout.open"
    model = ShopModel(
      relay: relay, outbox: outbox, userID: "jdo-1", attributes: { [:] },
      checkouts: OpenCheckouts(data: UserDefaults.standard.data(forKey: key)))
    model.keepCheckouts = { UserDefaults.standard.set($0.data, forKey: key) }
    state = model.state
    model.onChange = { [weak self] in self?.state = $0 }
    // From inside the app this opens the browser even for the app's own universal links.
    model.openInBrowser = { UIApplication.shared.open($0) }
  }

  func enter(_ phase: ScenePhase) {
    model.setActive(phase == .active)
    if phase == .background { enterBackground() }
  }

  /// Asks for time to post what waits, while the browser is open.
  private func enterBackground() {
    endBackground()
    background = UIApplication.shared.beginBackgroundTask { [weak self] in self?.endBackground() }
    outbox.flush { [weak self] _ in self?.endBackground() }
  }

  private func endBackground() {
    guard background != .invalid else { return }
    UIApplication.shared.endBackgroundTask(background)
    background = .invalid
  }
}

@main struct ShopApp: App {
  @UIApplicationDelegateAdaptor private var delegate: AppDelegate
  @Environment(\.scenePhase) private var phase
  @ObservedObject private var shop = Shop.shared

  var body: some Scene {
    WindowGroup {
      ShopView(shop: shop).onCheckoutLink { shop.model.open($0) }
    }
    .onChange(of: phase) { shop.enter($0) }
  }
}

struct ShopView: View {
  @ObservedObject var shop: Shop

  var body: some View {
    VStack(spacing: 16) {
      switch shop.state.place {
      case .order(let id): Text("Order \(id)")
      default: Button("Buy in the browser") { shop.model.buy(planID: "price_1MbK…") }
      }
      if let message = shop.state.checkout.message {
        switch shop.state.checkout {
        case .opening, .checking: ProgressView(message)
        case .processing: Label(message, systemImage: "clock")
        case .bought: Label(message, systemImage: "checkmark.circle")
        default: Text(message)
        }
      }
      if let message = shop.state.claim.message {
        Text(message)
        if shop.state.claim.isQuestion {
          Button("Add the purchase") { shop.model.addPurchase() }
          Button("Not now") { shop.model.declinePurchase() }
        }
      }
    }
    .padding()
  }
}

/// Hands over what SwiftUI has no modifier for.
final class AppDelegate: NSObject, UIApplicationDelegate {
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
    if let item = options.shortcutItem { _ = Shop.shared.model.performShortcut(item.type) }
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
    Shop.shared.model.openNotification(response.notification.request.content.userInfo)
    completionHandler()
  }
}

final class SceneDelegate: NSObject, UIWindowSceneDelegate {
  func windowScene(
    _ windowScene: UIWindowScene, performActionFor item: UIApplicationShortcutItem,
    completionHandler: @escaping (Bool) -> Void
  ) {
    completionHandler(Shop.shared.model.performShortcut(item.type))
  }
}
