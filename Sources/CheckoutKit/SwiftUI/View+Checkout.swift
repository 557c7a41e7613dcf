// What an app with SwiftUI attaches to its views. The main actor.

#if canImport(SwiftUI)
  public import Foundation
  public import SwiftUI

  @available(iOS 14, macOS 11, tvOS 14, watchOS 7, *)
  extension View {
    /// Calls `open` with every link that opens the app: URLs of its schemes, and universal links, which iOS
    /// passes on in one of two ways, or in both.
    public func onCheckoutLink(perform open: @escaping (URL) -> Void) -> some View {
      onOpenURL(perform: open).onContinueUserActivity(UniversalLink.activityType) { activity in
        if let url = activity.webpageURL { open(url) }
      }
    }
  }

  @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
  extension View {
    /// Posts the contexts of an outbox when the view appears, and whenever its scene becomes active. Attach
    /// it to the app's root view.
    public func postsCheckouts(_ outbox: CheckoutOutbox) -> some View {
      modifier(PostsCheckouts(outbox: outbox))
    }
  }

  @available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
  private struct PostsCheckouts: ViewModifier {
    let outbox: CheckoutOutbox
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
      content.task(id: phase) { [phase, outbox] in
        // Not as a part of this task, which the next phase cancels.
        if phase == .active { outbox.flush { _ in } }
      }
    }
  }
#endif
