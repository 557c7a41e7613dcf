// What an app's configuration says about the join and deliveries, as values. Pure; any thread.

public import Formats

/// How long a purchase waits for missing data, and what happens then (contract of the join).
public struct JoinPolicy: Sendable, Equatable {
  /// What happens to a purchase whose context never came.
  public enum WithoutContext: String, Sendable, CaseIterable {
    /// The receipt is sent without `ply_context`.
    case deliver
    /// The receipt waits until an operator supplies a context or one arrives.
    case hold
  }

  /// Which of a user's unused contexts a purchase that names none may get.
  public enum Guess: String, Sendable, CaseIterable {
    /// The newest with the purchase's price, else the newest whose price cannot be compared with it.
    case samePrice = "same_price"
    /// The newest with the purchase's price, else the newest.
    case newest
    /// None.
    case never
  }

  /// How long before an event a context that belongs to it may have been received.
  public var window: Duration
  /// How long a purchase waits for its events: one known only from sister events, for its checkout session;
  /// one whose price no event has named, for that price. Zero does not wait.
  public var settle: Duration
  /// How long a purchase whose user is only inferred from its customer waits for its checkout session, which
  /// may name another user.
  public var settleCustomer: Duration
  public var guess: Guess
  public var waitForContext: Duration
  public var withoutContext: WithoutContext
  public var waitForUser: Duration
  /// How long to wait for one of the processor's own prices before the context's price is used, whatever its
  /// form.
  public var waitForProcessorPrice: Duration
  public var waitForPrice: Duration
  public var waitForPayment: Duration

  /// The defaults: 24 h window, 5 s to settle, 30 s for an inferred user, guesses by price, 2 min for a
  /// context, 24 h for a user, 30 s and 24 h for a price, 14 d for a payment.
  public init(
    window: Duration = .days(1), settle: Duration = .seconds(5), settleCustomer: Duration = .seconds(30),
    guess: Guess = .samePrice, waitForContext: Duration = .minutes(2),
    withoutContext: WithoutContext = .deliver, waitForUser: Duration = .days(1),
    waitForProcessorPrice: Duration = .seconds(30), waitForPrice: Duration = .days(1),
    waitForPayment: Duration = .days(14)
  ) {
    self.window = window
    self.settle = settle
    self.settleCustomer = settleCustomer
    self.guess = guess
    self.waitForContext = waitForContext
    self.withoutContext = withoutContext
    self.waitForUser = waitForUser
    self.waitForProcessorPrice = waitForProcessorPrice
    self.waitForPrice = waitForPrice
    self.waitForPayment = waitForPayment
  }
}

/// When a failed delivery is retried, and when it fails for good.
public struct RetryPolicy: Sendable, Equatable {
  /// The pauses after the first, second, … failure; the last one repeats. Never empty.
  public var schedule: [Duration]
  /// The share by which a pause varies either way, 0…1, so that receipts which failed together are not
  /// retried together.
  public var jitter: Double
  /// Counted from the time when the receipt became ready or was replayed. Time under a wrong configuration
  /// does not count.
  public var giveUpAfter: Duration

  /// The defaults: 2 s growing to 12 h, ±20 %, 7 d.
  public init(
    schedule: [Duration] = [
      .seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10), .minutes(30), .hours(1), .hours(2),
      .hours(4), .hours(8), .hours(12),
    ],
    jitter: Double = 0.2, giveUpAfter: Duration = .days(7)
  ) {
    self.schedule = schedule
    self.jitter = jitter
    self.giveUpAfter = giveUpAfter
  }
}

/// When an app's deliveries stop because its destination is down, and for how long.
public struct BreakerPolicy: Sendable, Equatable {
  /// How many transient failures in a row open the breaker.
  public var failures: Int
  /// How long it stays open before one probe.
  public var openFor: Duration

  /// The defaults: 10 failures, 30 s.
  public init(failures: Int = 10, openFor: Duration = .seconds(30)) {
    self.failures = failures
    self.openFor = openFor
  }
}

/// How an app's receipts are delivered.
public struct DeliveryPolicy: Sendable, Equatable {
  /// How many deliveries may be under way at once.
  public var concurrency: Int
  /// Deliveries per second at most.
  public var ratePerSecond: Double
  public var timeout: Duration
  public var connectTimeout: Duration
  public var retry: RetryPolicy
  public var breaker: BreakerPolicy
  /// Whether `ply_context` is sent when there is one.
  public var forwardContext: Bool

  /// How many replays may be due at once before jobs release no more: enough to keep all places busy while
  /// outcomes are written, and few enough that a pause takes effect soon.
  public var replayWindow: Int { max(20, 2 * concurrency) }

  /// How many of the concurrent deliveries may be replays. The other places are reserved for new receipts,
  /// unless there is only one.
  public var replayConcurrency: Int { max(1, concurrency - max(1, concurrency / 4)) }

  /// The defaults: 8 at once, 50/s, 10 s in all, 3 s to connect.
  public init(
    concurrency: Int = 8, ratePerSecond: Double = 50, timeout: Duration = .seconds(10),
    connectTimeout: Duration = .seconds(3), retry: RetryPolicy = RetryPolicy(),
    breaker: BreakerPolicy = BreakerPolicy(), forwardContext: Bool = true
  ) {
    self.concurrency = concurrency
    self.ratePerSecond = ratePerSecond
    self.timeout = timeout
    self.connectTimeout = connectTimeout
    self.retry = retry
    self.breaker = breaker
    self.forwardContext = forwardContext
  }
}
