// The declarations of UserNotifications that the sample uses, of
// https://developer.apple.com/documentation/usernotifications.

@_exported import Foundation

public class UNNotificationContent: NSObject { public var userInfo: [AnyHashable: Any] { [:] } }

public class UNNotificationRequest: NSObject { public var content: UNNotificationContent { fatalError() } }

public class UNNotification: NSObject { public var request: UNNotificationRequest { fatalError() } }

public class UNNotificationResponse: NSObject { public var notification: UNNotification { fatalError() } }

public protocol UNUserNotificationCenterDelegate: AnyObject {
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    withCompletionHandler completionHandler: @escaping () -> Void)
}

public final class UNUserNotificationCenter: NSObject {
  public class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
  public weak var delegate: (any UNUserNotificationCenterDelegate)?
}
