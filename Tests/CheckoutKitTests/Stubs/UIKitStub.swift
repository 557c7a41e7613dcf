// The declarations of UIKit that the sample uses, without bodies, so that it is type-checked where UIKit does
// not exist. Signatures are Apple's, of https://developer.apple.com/documentation/uikit.

@_exported import Foundation
@_exported import SwiftUI

#if canImport(FoundationNetworking)
  // Apple's Foundation has these types.
  @_exported import FoundationNetworking
#endif

// MARK: The application

public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
  public static let invalid = UIBackgroundTaskIdentifier()
}

@MainActor open class UIResponder: NSObject {
  nonisolated public override init() {}
}

@MainActor public final class UIApplication: UIResponder {
  public struct LaunchOptionsKey: Hashable, Sendable {
    public static let url = LaunchOptionsKey()
  }
  public struct OpenExternalURLOptionsKey: Hashable, Sendable {}

  public static let shared = UIApplication()
  public var delegate: (any UIApplicationDelegate)? { nil }
  public func open(
    _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
    completionHandler: (@MainActor @Sendable (Bool) -> Void)? = nil
  ) {}
  public func beginBackgroundTask(
    expirationHandler: (@MainActor @Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier { .invalid }
  public func registerForRemoteNotifications() {}
  public var shortcutItems: [UIApplicationShortcutItem]?
  public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}

@MainActor public protocol UIApplicationDelegate: AnyObject {
  init()
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool
  func application(
    _ application: UIApplication, configurationForConnecting session: UISceneSession,
    options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult
}

public enum UIBackgroundFetchResult: Sendable { case newData, noData, failed }

extension UIApplicationDelegate {
  public static func main() {}
  public func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }
  public func application(
    _ application: UIApplication, configurationForConnecting session: UISceneSession,
    options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration { fatalError() }
  public func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult { .noData }
}

public final class UIApplicationShortcutIcon: NSObject {}

public final class UIApplicationShortcutItem: NSObject, @unchecked Sendable {
  public init(
    type: String, localizedTitle: String, localizedSubtitle: String?, icon: UIApplicationShortcutIcon?,
    userInfo: [String: any NSSecureCoding]? = nil
  ) {}
  public var type: String { "" }
  public var userInfo: [String: any NSSecureCoding]? { nil }
}

// MARK: Scenes

@MainActor public final class UISceneSession: NSObject {
  public struct Role: Sendable {}
  public var role: Role { Role() }
}

@MainActor public final class UISceneConfiguration: NSObject {
  public struct Name: Sendable {}
  public init(name: String?, sessionRole: UISceneSession.Role) {}
  public var delegateClass: AnyClass?
}

@MainActor public final class UIOpenURLContext: NSObject {
  public var url: URL { fatalError() }
}

@MainActor open class UIScene: UIResponder {
  @MainActor public final class ConnectionOptions: NSObject {
    public var urlContexts: Set<UIOpenURLContext> { [] }
    public var userActivities: Set<NSUserActivity> { [] }
    public var shortcutItem: UIApplicationShortcutItem? { nil }
  }
}

@MainActor public final class UIWindowScene: UIScene {}

@MainActor public protocol UISceneDelegate: AnyObject {
  func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions)
  func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>)
  func scene(_ scene: UIScene, continue activity: NSUserActivity)
  func sceneDidBecomeActive(_ scene: UIScene)
  func sceneWillResignActive(_ scene: UIScene)
  func sceneDidEnterBackground(_ scene: UIScene)
}

extension UISceneDelegate {
  public func scene(
    _ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions
  ) {}
  public func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {}
  public func scene(_ scene: UIScene, continue activity: NSUserActivity) {}
  public func sceneDidBecomeActive(_ scene: UIScene) {}
  public func sceneWillResignActive(_ scene: UIScene) {}
  public func sceneDidEnterBackground(_ scene: UIScene) {}
}

@MainActor public protocol UIWindowSceneDelegate: UISceneDelegate {
  func windowScene(
    _ windowScene: UIWindowScene, performActionFor item: UIApplicationShortcutItem,
    completionHandler: @escaping (Bool) -> Void)
}

extension UIWindowSceneDelegate {
  public func windowScene(
    _ windowScene: UIWindowScene, performActionFor item: UIApplicationShortcutItem,
    completionHandler: @escaping (Bool) -> Void
  ) {}
}

// MARK: Views

@MainActor open class UIView: UIResponder {
  public var frame = CGRect.zero
  public var isHidden = false
  public var bounds: CGRect { .zero }
  public func addSubview(_ view: UIView) {}
}

@MainActor public final class UILabel: UIView {
  public override init() {}
  public var text: String?
  public var numberOfLines = 1
}

@MainActor public final class UIAction: NSObject {
  public init(title: String = "", handler: @escaping @MainActor (UIAction) -> Void) {}
}

@MainActor public final class UIButton: UIView {
  public init(primaryAction: UIAction?) {}
}

@MainActor public final class UIStackView: UIView {
  public enum Axis: Sendable { case horizontal, vertical }
  public init(arrangedSubviews views: [UIView]) {}
  public var axis = Axis.horizontal
}

@MainActor public final class UIWindow: UIView {
  public init(windowScene: UIWindowScene) {}
  public var rootViewController: UIViewController?
  public func makeKeyAndVisible() {}
}

@MainActor open class UIViewController: UIResponder {
  public init(nibName: String?, bundle: Bundle?) {}
  public required init?(coder: NSCoder) { nil }
  public var view: UIView { UIView() }
  open func viewDidLoad() {}
  public var isModalInPresentation = false
  public func present(
    _ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil
  ) {}
  public func dismiss(animated: Bool, completion: (() -> Void)? = nil) {}
}
