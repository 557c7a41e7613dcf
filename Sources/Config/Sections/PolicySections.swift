// The keys of `join`, `delivery` and `claims`, whose properties and defaults are in Domain/Policies.swift,
// those of `claims` in Domain/Claim.swift. As ConfigurationReader: one thread, every fault.

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
        "Maximum time from the post of a context to the payment it belongs to."),
      .key(
        "settle", \.settle, .duration(in: waitRange),
        "Maximum wait for the other events of a checkout: the session and the price."),
      .key(
        "settle_customer", \.settleCustomer, .duration(in: waitRange),
        "Maximum wait for the checkout session of a purchase whose user is only inferred: the session may "
          + "name another user."),
      .key(
        "guess", \.guess, .choice,
        "Which of the user's unused contexts a purchase that names none gets: the newest whose price does "
          + "not contradict it (same_price), the newest of any price (newest), or none (never)."),
      .key(
        "wait_for_context", \.waitForContext, .duration(in: waitRange),
        "Maximum wait for the context."),
      .key(
        "without_context", \.withoutContext, .choice,
        "What happens after that wait: the receipt is delivered without ply_context (deliver), or waits "
          + "until a context comes or an operator acts (hold)."),
      .key(
        "wait_for_user", \.waitForUser, .duration(in: waitRange),
        "Maximum wait for the user. After that, the receipt fails."),
      .key(
        "wait_for_stripe_price", \.waitForProcessorPrice, .duration(in: waitRange),
        "Maximum wait for a price from the processor. After that, the purchase uses its context's price, "
          + "whatever its form."),
      .key(
        "wait_for_price", \.waitForPrice, .duration(in: waitRange),
        "Maximum wait for any price. After that, the receipt fails."),
      .key(
        "wait_for_payment", \.waitForPayment, .duration(in: waitRange),
        "Maximum wait for a promised payment, such as a bank debit, which takes days."),
    ])
}

extension DeliveryPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "concurrency", \.concurrency, .integer(in: 1...1000),
        "Maximum concurrent deliveries."),
      .key(
        "rate", \.ratePerSecond, .number(in: 0.001...100_000),
        "Maximum deliveries per second."),
      .key(
        "timeout", \.timeout, .duration(in: KeyRanges.deliveryTimeout),
        "Timeout of one delivery. The name lookup does not count; it may take another 10 s."),
      .key(
        "connect_timeout", \.connectTimeout, .duration(in: KeyRanges.deliveryTimeout),
        "Connect timeout, counted from the end of the name lookup."),
      .section("retry", \.retry, RetryPolicy.section, "Retries of failed deliveries."),
      .section(
        "breaker", \.breaker, BreakerPolicy.section,
        "Circuit breaker, which pauses the app's deliveries while the destination is down."),
      .key("forward_context", \.forwardContext, .flag, "Whether ply_context is sent."),
    ])
}

extension ClaimPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "lifetime", \.lifetime, .duration(in: .minutes(1)...(.days(365))),
        "How long the link of a claim is valid."),
      .key(
        "announce", \.announces, .flag,
        "Whether the app's webhook gets a message for each paid purchase without a user "
          + "(purchase.unclaimed)."),
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
        "Pauses after the first, second, … failure. The last one repeats."),
      .key(
        "jitter", \.jitter, .number(in: 0...1),
        "Fraction by which each pause varies up or down."),
      .key(
        "give_up_after", \.giveUpAfter, .duration(in: pauseRange),
        "Age at which a receipt fails for good, counted from when it became ready. Time in which the "
          + "destination refuses the configuration does not count."),
    ])
}

extension BreakerPolicy {
  static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "failures", \.failures, .integer(in: 1...1_000_000),
        "Consecutive failures after which deliveries pause."),
      .key(
        "open_for", \.openFor, .duration(in: .milliseconds(1)...(.days(1))),
        "Length of the pause. Then one delivery is tried; if it is answered but fails, up to four others "
          + "are tried."),
    ])
}
