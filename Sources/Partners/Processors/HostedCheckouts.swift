// Checkout pages that a processor makes through its API, each for one context. Like a merchant backend it
// decides, and other code carries the steps out.

public import Domain

/// Where the calls of an app to a processor's API go.
public protocol ProcessorEndpoint: Sendable {
  /// The base URL of every call: scheme, host and port, without a trailing slash. It comes from the
  /// configuration only, so that no request of a client can choose a host.
  var base: String { get }

  /// Sent with every call; includes the credentials, which are never logged (R7).
  var headers: [(name: String, value: String)] { get }

  /// The merchant's account that every call uses, for a processor that keeps cards of payers: a payer belongs
  /// to one user in all apps of the account. Nil for any other processor.
  var account: AccountID? { get }
}

extension ProcessorEndpoint {
  public var account: AccountID? { nil }
}

/// One app's checkout pages at a processor. Pure; any thread.
public protocol HostedCheckouts: ProcessorEndpoint {
  /// Whether the processor makes a page for this price.
  func offers(_ price: PriceID) -> Bool

  /// Makes the page of a context, once: the same order again gets the same page. Total.
  /// - Returns: steps that end with an answer: a redirect to the page (303 with `Location`), or a problem.
  func open(_ order: CheckoutOrder) -> BackendStep
}

/// A context whose customer wants to pay.
public struct CheckoutOrder: Sendable, Equatable {
  public var contextID: ContextID
  public var price: PriceID
  /// When the context was posted first.
  public var postedAt: Timestamp
  public var now: Timestamp
  /// Whom the processor knows; nil if nobody is known for sure.
  public var customerID: CustomerID?
  /// The customer's verified e-mail address. Never stored or logged (R7).
  public var email: String?

  public init(
    contextID: ContextID, price: PriceID, postedAt: Timestamp, now: Timestamp, customerID: CustomerID? = nil,
    email: String? = nil
  ) {
    self.contextID = contextID
    self.price = price
    self.postedAt = postedAt
    self.now = now
    self.customerID = customerID
    self.email = email
  }
}
