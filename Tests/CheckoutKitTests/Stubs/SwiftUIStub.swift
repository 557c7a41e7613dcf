// The declarations of SwiftUI that the kit and its sample use, without bodies, so that both are type-checked
// where SwiftUI does not exist. Signatures are Apple's, of https://developer.apple.com/documentation/swiftui.

@_exported import Foundation

public final class NSUserActivity: NSObject {
  public var activityType: String { "" }
  public var webpageURL: URL? { nil }
}

// MARK: Views

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { return fatalError() } }

public struct AnyStubView: View { public var body: Never { return fatalError() } }

@resultBuilder public struct ViewBuilder {
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> AnyStubView {
    AnyStubView()
  }
  public static func buildEither(first: AnyStubView) -> AnyStubView { AnyStubView() }
  public static func buildEither(second: AnyStubView) -> AnyStubView { AnyStubView() }
  public static func buildIf(_ content: AnyStubView?) -> AnyStubView { AnyStubView() }
}

public struct Text: View {
  public init<S: StringProtocol>(_ content: S) {}
  public var body: Never { return fatalError() }
}

public struct Label: View {
  public init<S: StringProtocol>(_ title: S, systemImage name: String) {}
  public var body: Never { return fatalError() }
}

public struct ProgressView: View {
  public init<S: StringProtocol>(_ title: S) {}
  public var body: Never { return fatalError() }
}

public struct Button: View {
  @preconcurrency public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
  public var body: Never { return fatalError() }
}

public struct VStack: View {
  public init(spacing: Double? = nil, @ViewBuilder content: () -> some View) {}
  public var body: Never { return fatalError() }
}

// MARK: Modifiers

@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = AnyStubView
  @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}

extension View {
  public func modifier(_ modifier: some ViewModifier) -> some View { AnyStubView() }
  public func padding() -> some View { AnyStubView() }
  public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { AnyStubView() }
  public func onContinueUserActivity(
    _ activityType: String, perform action: @escaping (NSUserActivity) -> Void
  ) -> some View { AnyStubView() }
  public func task<T: Equatable>(
    id: T, priority: TaskPriority = .userInitiated,
    @_inheritActorContext _ action: @escaping @Sendable () async -> Void
  ) -> some View { AnyStubView() }
}

// MARK: State

public enum ScenePhase: Sendable { case background, inactive, active }

public struct EnvironmentValues: Sendable {
  public init() {}
  public var scenePhase: ScenePhase { .active }
}

@propertyWrapper public struct Environment<Value> {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
  public var wrappedValue: Value { fatalError() }
}

public protocol ObservableObject: AnyObject {}

@propertyWrapper public struct Published<Value> {
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public var wrappedValue: Value
}

@MainActor @preconcurrency @propertyWrapper public struct ObservedObject<Object: ObservableObject> {
  public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
  public var wrappedValue: Object
}

// MARK: Scenes

@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

@resultBuilder public struct SceneBuilder {
  public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup: Scene {
  public init(@ViewBuilder content: () -> some View) {}
  public var body: Never { return fatalError() }
}

public struct StubScene: Scene { public var body: Never { return fatalError() } }

extension Scene {
  public func onChange<V: Equatable>(of value: V, perform action: @escaping (V) -> Void) -> some Scene {
    StubScene()
  }
}

@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
  @MainActor @preconcurrency init()
}

extension App { @MainActor @preconcurrency public static func main() {} }

@MainActor @preconcurrency @propertyWrapper public struct UIApplicationDelegateAdaptor<Delegate: AnyObject> {
  public init(_ type: Delegate.Type = Delegate.self) {}
  public var wrappedValue: Delegate { fatalError() }
}
