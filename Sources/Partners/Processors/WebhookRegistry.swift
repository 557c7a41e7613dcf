// Where a payment processor sends its webhooks, if its API lists that. Pure; any thread.

/// The list of registered addresses.
public protocol WebhookRegistry: Sendable {
  /// The types of events without which the relay misses purchases or their ends.
  var neededTypes: [String] { get }

  /// The request for a page.
  /// - Parameter cursor: the end of the previous page; nil for the first page.
  func page(after cursor: String?) -> ProcessorQuery

  /// Parses a page; nil when the body is not one. Total.
  func read(_ body: [UInt8]) -> RegistrationPage?
}

/// One page of the list.
public struct RegistrationPage: Sendable, Equatable {
  public var registrations: [WebhookRegistration]
  /// The cursor of the next page; nil for the last page.
  public var next: String?
}

/// One registered address.
public struct WebhookRegistration: Sendable, Equatable {
  /// Untrusted.
  public var url: String
  public var isEnabled: Bool
  /// The types of events that are sent there; `*` means all.
  public var types: Set<String>

  /// Whether events of a type are sent there.
  public func has(_ type: String) -> Bool { types.contains(type) || types.contains("*") }
}
