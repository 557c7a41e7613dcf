// What an app's configuration says about the join and deliveries, as values. Pure; any thread.

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
  public var windowMilliseconds: Int64
  /// How long a purchase waits for its events: one known only from sister events, for its checkout session;
  /// one whose price no event has named, for that price. 0 does not wait.
  public var settleMilliseconds: Int64
  public var guess: Guess
  public var waitForContextMilliseconds: Int64
  public var withoutContext: WithoutContext
  public var waitForUserMilliseconds: Int64
  /// How long to wait for one of the processor's own prices before the context's price is used, whatever its
  /// form.
  public var waitForProcessorPriceMilliseconds: Int64
  public var waitForPriceMilliseconds: Int64
  public var waitForPaymentMilliseconds: Int64

  /// The defaults: 24 h window, 5 s to settle, guesses by price, 2 min for a context, 24 h for a user, 30 s
  /// and 24 h for a price, 14 d for a payment.
  public init(
    windowMilliseconds: Int64 = 86_400_000, settleMilliseconds: Int64 = 5000, guess: Guess = .samePrice,
    waitForContextMilliseconds: Int64 = 120_000,
    withoutContext: WithoutContext = .deliver, waitForUserMilliseconds: Int64 = 86_400_000,
    waitForProcessorPriceMilliseconds: Int64 = 30_000, waitForPriceMilliseconds: Int64 = 86_400_000,
    waitForPaymentMilliseconds: Int64 = 1_209_600_000
  ) {
    self.windowMilliseconds = windowMilliseconds
    self.settleMilliseconds = settleMilliseconds
    self.guess = guess
    self.waitForContextMilliseconds = waitForContextMilliseconds
    self.withoutContext = withoutContext
    self.waitForUserMilliseconds = waitForUserMilliseconds
    self.waitForProcessorPriceMilliseconds = waitForProcessorPriceMilliseconds
    self.waitForPriceMilliseconds = waitForPriceMilliseconds
    self.waitForPaymentMilliseconds = waitForPaymentMilliseconds
  }
}

/// When a failed delivery is retried, and when it fails for good.
public struct RetryPolicy: Sendable, Equatable {
  /// The pauses after the first, second, … failure; the last one repeats. Never empty.
  public var scheduleMilliseconds: [Int64]
  /// The share by which a pause varies either way, 0…1, so that receipts which failed together are not
  /// retried together.
  public var jitter: Double
  /// Counted from the time when the receipt became ready; time under a wrong configuration does not count.
  public var giveUpAfterMilliseconds: Int64

  /// The defaults: 2 s growing to 12 h, ±20 %, 7 d.
  public init(
    scheduleMilliseconds: [Int64] = [
      2000, 10_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000,
      43_200_000,
    ],
    jitter: Double = 0.2, giveUpAfterMilliseconds: Int64 = 604_800_000
  ) {
    self.scheduleMilliseconds = scheduleMilliseconds
    self.jitter = jitter
    self.giveUpAfterMilliseconds = giveUpAfterMilliseconds
  }
}

/// When an app's deliveries stop because its destination is down, and for how long.
public struct BreakerPolicy: Sendable, Equatable {
  /// How many transient failures in a row open the breaker.
  public var failures: Int
  /// How long it stays open before one probe.
  public var openForMilliseconds: Int64

  /// The defaults: 10 failures, 30 s.
  public init(failures: Int = 10, openForMilliseconds: Int64 = 30_000) {
    self.failures = failures
    self.openForMilliseconds = openForMilliseconds
  }
}

/// How an app's receipts are delivered.
public struct DeliveryPolicy: Sendable, Equatable {
  /// How many deliveries may be under way at once.
  public var concurrency: Int
  /// Deliveries per second at most.
  public var ratePerSecond: Double
  public var timeoutMilliseconds: Int64
  public var connectTimeoutMilliseconds: Int64
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
    concurrency: Int = 8, ratePerSecond: Double = 50, timeoutMilliseconds: Int64 = 10_000,
    connectTimeoutMilliseconds: Int64 = 3000, retry: RetryPolicy = RetryPolicy(),
    breaker: BreakerPolicy = BreakerPolicy(), forwardContext: Bool = true
  ) {
    self.concurrency = concurrency
    self.ratePerSecond = ratePerSecond
    self.timeoutMilliseconds = timeoutMilliseconds
    self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    self.retry = retry
    self.breaker = breaker
    self.forwardContext = forwardContext
  }
}
