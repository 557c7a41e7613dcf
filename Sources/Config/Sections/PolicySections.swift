// The keys of `join` and `delivery`, whose properties and defaults are in Domain/Policies.swift. As
// ConfigurationReader: one thread, every fault.

internal import Domain
internal import Formats

extension JoinPolicy {
  /// 0 disables the wait.
  private static let waitRange: ClosedRange<Duration> = .zero...(.days(365))

  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "window", \.window, .duration(in: waitRange),
        "How long before its payment a purchase's context may have been posted."),
      .key(
        "settle", \.settle, .duration(in: waitRange),
        "How long a purchase waits for the other events of its checkout: the session, and the price."),
      .key(
        "guess", \.guess, .choice,
        "Which of the user's unused contexts a purchase that names none gets: the newest whose price does "
          + "not contradict it (same_price), the newest of any price (newest), or none (never)."),
      .key(
        "wait_for_context", \.waitForContext, .duration(in: waitRange),
        "How long a purchase waits for its context."),
      .key(
        "without_context", \.withoutContext, .choice,
        "What happens after that wait: the receipt is delivered without ply_context (deliver), or waits "
          + "until a context comes or an operator acts (hold)."),
      .key(
        "wait_for_user", \.waitForUser, .duration(in: waitRange),
        "How long a purchase waits for its user. After that, its receipt fails."),
      .key(
        "wait_for_stripe_price", \.waitForProcessorPrice, .duration(in: waitRange),
        "How long a purchase waits for a price from its processor. After that, it uses its context's price, "
          + "whatever its form."),
      .key(
        "wait_for_price", \.waitForPrice, .duration(in: waitRange),
        "How long a purchase waits for any price. After that, its receipt fails."),
      .key(
        "wait_for_payment", \.waitForPayment, .duration(in: waitRange),
        "How long a purchase waits for a promised payment, such as a bank debit, which takes days."),
    ])
}

extension DeliveryPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "concurrency", \.concurrency, .integer(in: 1...1000),
        "The most deliveries at once."),
      .key(
        "rate", \.ratePerSecond, .number(in: 0.001...100_000),
        "The most deliveries in a second."),
      .key(
        "timeout", \.timeout, .duration(in: ConfigurationLimits.deliveryTimeout),
        "How long one delivery may take, without the lookup of the destination's name, which may take 10 s "
          + "more."),
      .key(
        "connect_timeout", \.connectTimeout, .duration(in: ConfigurationLimits.deliveryTimeout),
        "How long connecting may take, from the end of the name lookup."),
      .section("retry", \.retry, RetryPolicy.section, "When a failed delivery is tried again."),
      .section(
        "breaker", \.breaker, BreakerPolicy.section,
        "When the app's deliveries pause because the destination is down."),
      .key("forward_context", \.forwardContext, .flag, "Whether ply_context is sent."),
    ])
}

extension RetryPolicy {
  private static let pauseRange: ClosedRange<Duration> = .milliseconds(1)...(.days(365))

  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "schedule",
        \.schedule,
        .list(
          of: .duration(in: pauseRange), count: 1...100,
          "durations"),
        "The pauses after the first, second, … failure. The last one repeats."),
      .key(
        "jitter", \.jitter, .number(in: 0...1),
        "The share by which each pause varies either way."),
      .key(
        "give_up_after", \.giveUpAfter, .duration(in: pauseRange),
        "How long after it became ready a receipt fails for good. Time in which the destination refused the "
          + "configuration does not count."),
    ])
}

extension BreakerPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "failures", \.failures, .integer(in: 1...1_000_000),
        "The number of failures in a row after which deliveries pause."),
      .key(
        "open_for", \.openFor, .duration(in: .milliseconds(1)...(.days(1))),
        "How long they pause. After that, one delivery is tried; if it is answered and fails, up to four "
          + "others are."),
    ])
}
