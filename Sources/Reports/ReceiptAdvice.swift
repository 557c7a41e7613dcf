// What a receipt's state means and what the operator can do about it, for receiptctl and the dashboard. Pure;
// called from any thread. Nothing is sanitized or escaped.

public import Domain
internal import Platform
public import Store

/// What a receipt's state means, and a remedy that is not refused.
public struct ReceiptAdvice: Sendable, Equatable {
  /// How its reader replays a receipt.
  public enum Reader: Sendable, Equatable {
    case terminal
    /// The dashboard's page has this button.
    case page(button: String)
  }

  public let lines: [String]

  /// - Parameters:
  ///   - breaker: that of the receipt's destination.
  ///   - pause: the app's.
  ///   - destination: how to correct the destination's configuration; nil if it has no destination.
  ///   - destinations: those that the app has for the purchase.
  ///   - rate: the app's `delivery.rate`, in receipts per second.
  ///   - processor: the rules of its processor; nil if the receipt's app is not configured.
  public init(
    _ record: PurchaseRecord, _ receipt: Receipt, breaker: Breaker?, pause: AppPause,
    destination: DestinationAdvice?, destinations: PurchaseDestinations, rate: Double?,
    processor: ProcessorRules?, for reader: Reader, now: Timestamp
  ) {
    let app = record.app.text
    guard let processor = processor ?? (receipt.state == .delivered ? ProcessorRules() : nil) else {
      lines = [
        "The app \(app) is not configured: nothing is decided or delivered for it.",
        "Configure the app again, then reload receiptd.",
      ]
      return
    }
    let obstacle = Self.obstacle(record, receipt, destinations, processor)
    switch receipt.state {
    case .delivered where receipt.correctedBy != nil:
      lines = ["It said something wrong: \(receipt.correctedBy ?? "") corrects it, and counts."]
    case .delivered
    where record.purchase.userConflict && record.purchase.userSource != .byOperator && !receipt.isReversal:
      lines = ["The destination has accepted it.", Self.conflict(record.purchase, receipt, reader)]
    case .delivered:
      lines = [
        "The destination has accepted it; there is nothing to do."
          + (destination.map { " \($0.missing)" } ?? "")
      ]
    case .pending where destination == nil:
      lines = [Self.noDestination(record, receipt, destinations)]
    case .pending:
      // A replay waits for the end of a pause, too.
      lines =
        PauseText(pause, app: app, now: now).map {
          ["Deliveries of this app \($0.sentence)", $0.advice]
        }
        ?? BreakerText(breaker, app: app, now: now, advice: destination).map {
          ["Deliveries of this app\(destination.map { " to \($0.name)" } ?? "") \($0.sentence)", $0.advice]
        }
        ?? [Self.schedule(receipt, app, rate, mayReplay: obstacle == nil, reader, now)]
        + Self.retryNow(receipt, app: app, reader, now: now)
    case .waiting:
      let wait = receipt.waitUntil.map { ", or is decided without it (\($0.relative(to: now)))" } ?? ""
      lines = [
        Self.meaning(receipt),
        receipt.reason == .destination
          ? Self.noDestination(record, receipt, destinations)
          : Self.remedy(waiting: record, receipt, wait, mayReplay: obstacle == nil, reader),
      ]
    case .failed where obstacle == .lacks(.destination), .cancelled where obstacle == .lacks(.destination):
      // A reload continues only what waits or is due.
      lines = [
        Self.meaning(receipt), Self.noDestination(record, receipt, destinations),
        Self.replay("To send it after that", receipt, reader),
      ]
    case .failed where obstacle == nil && !receipt.isReversal && receipt.reason?.isRefusal == true:
      lines = [Self.meaning(receipt)] + Self.remedies(refused: receipt, reader)
    case .failed, .cancelled:
      lines = [Self.meaning(receipt), Self.remedy(ended: record, receipt, obstacle, reader)]
    }
  }

  /// When a receipt is sent that nothing stops.
  private static func schedule(
    _ receipt: Receipt, _ app: String, _ rate: Double?, mayReplay: Bool, _ reader: Reader, _ now: Timestamp
  ) -> String {
    if let due = receipt.nextAttemptAt, due <= now {
      // A replay would only make it due.
      return "It is due, and waits for its turn"
        + (rate.map { "; apps.\(app).delivery.rate (\(CountText.rate($0))) may hold it back." } ?? ".")
    }
    return "receiptd sends it when it is due."
      + (mayReplay ? " \(replay("To send it now", receipt, reader))" : "")
  }

  /// What to do if the strongest name is not the user.
  private static func conflict(_ purchase: Purchase, _ receipt: Receipt, _ reader: Reader) -> String {
    let user = purchase.userID?.text ?? ""
    switch reader {
    case .terminal:
      let other = purchase.otherNames.first { $0.standing == .counts && $0.id != purchase.userID }
      return "If '\(user)' is wrong: receiptctl receipts correct \(receipt.id) "
        + "--user \(other?.id.text ?? "USER") --why TEXT"
    case .page: return "If '\(user)' is wrong, use \"Correct…\"."
    }
  }

  private static func obstacle(
    _ record: PurchaseRecord, _ receipt: Receipt, _ destinations: PurchaseDestinations,
    _ processor: ProcessorRules
  ) -> SendingObstacle? {
    do throws(SendingObstacle) {
      _ = try record.purchase.contentToReplay(receipt, to: destinations, processor)
      return nil
    } catch {
      return error
    }
  }

  /// A receipt that has no configured destination: there is none for it, or its own was removed.
  private static func noDestination(
    _ record: PurchaseRecord, _ receipt: Receipt, _ destinations: PurchaseDestinations
  ) -> String {
    let processor = record.purchase.key.processor
    if let own = receipt.copyOf?.destination {
      return "It is for \(own) only. To send it, configure apps.\(record.app).\(own) again, then run: "
        + "receiptctl reload"
    }
    guard let removed = receipt.destination, receipt.isReversal || receipt.state == .pending else {
      if let exclusion = destinations.exclusion { return Self.excluded(record.app, exclusion) }
      return "To send it, configure the destination that apps.\(record.app).\(processor).deliver_to names, "
        + "then run: receiptctl reload"
    }
    if receipt.isReversal {
      return "\(removed) accepted the purchase, so only \(removed) is notified that the money went back. To "
        + "send that, configure apps.\(record.app).\(removed) again, then run: receiptctl reload"
    }
    return "apps.\(record.app) has no section \(removed) any more. With the next reload, receiptd sends the "
      + "receipt to the present destination of \(processor), or lets it wait for one: receiptctl reload"
  }

  private static func excluded(_ app: AppSlug, _ exclusion: DestinationExclusion) -> String {
    let key = "apps.\(app).\(exclusion.destination).\(exclusion.key)"
    guard let instead = exclusion.instead else {
      return "\(key) holds it. To send it, change that key, then run: receiptctl reload"
    }
    return "\(key) sends it to \(instead). Configure apps.\(app).\(instead), then run: receiptctl reload"
  }

  private static func meaning(_ receipt: Receipt) -> String {
    if receipt.state == .failed, receipt.reason == .payment { return "The payment never came." }
    return "\((receipt.reason?.meaning ?? "it stopped").capitalizedFirst)."
  }

  private static func remedy(
    waiting record: PurchaseRecord, _ receipt: Receipt, _ wait: String, mayReplay: Bool, _ reader: Reader
  ) -> String {
    switch receipt.reason {
    case .user?, .price?: supply(receipt.reason, record, receipt)
    case .context?:
      "It continues when the context arrives\(wait)."
        + (mayReplay ? " \(replay("To send it now without the context", receipt, reader))" : "")
    default: "It continues automatically once that arrives\(wait)."
    }
  }

  /// A failed or cancelled receipt may lack more than its reason names.
  private static func remedy(
    ended record: PurchaseRecord, _ receipt: Receipt, _ obstacle: SendingObstacle?, _ reader: Reader
  ) -> String {
    let later = receipt.isOpenToJoin ? " Once it has one, the receipt continues automatically." : ""
    switch obstacle {
    case .corrected?: return "Another receipt corrects it."
    case .erased?: return "Its user's data was erased, so it cannot be sent."
    case .lacks(.subscription)?:
      return "It is about a subscription that has no id yet; it comes with the payment.\(later)"
    case .lacks(let reason)?:
      return receipt.reason == .payment
        ? "If it comes, the receipt continues automatically." : supply(reason, record, receipt)
    case nil: break
    }
    switch (receipt.state, receipt.reason) {
    case (_, .payment?):
      return "If it comes, the receipt continues automatically. "
        + replay("To send it although it is unpaid", receipt, reader)
    case (.cancelled, .paymentFailed?), (.cancelled, .sessionExpired?):
      return replay("To send it although it is unpaid", receipt, reader)
    case (.cancelled, _): return replay("To deliver it after all", receipt, reader)
    default: return replay("After fixing the cause", receipt, reader)
    }
  }

  /// A replay sends the bytes that were refused; only a completion makes new ones.
  private static func remedies(refused receipt: Receipt, _ reader: Reader) -> [String] {
    let again = "A replay sends the same content again. If the destination takes it now"
    guard reader == .terminal else { return [replay(again, receipt, reader)] }
    let command = "receiptctl receipts"
    return [
      replay(again, receipt, reader),
      "If the configuration was wrong, correct it, run receiptctl reload, and make the receipt again: "
        + "\(command) complete \(receipt.id) --price \(receipt.priceID?.text ?? "PRICE")",
      "If the sale is not the app's: \(command) cancel \(receipt.id) --why TEXT",
    ]
  }

  private static func supply(_ reason: Reason?, _ record: PurchaseRecord, _ receipt: Receipt) -> String {
    let command = "receiptctl receipts complete \(receipt.id)"
    guard reason != .price else { return "Supply the price: \(command) --price PRICE" }
    let claim =
      record.purchase.canBeClaimed(receipt)
      ? "; if nobody knows the user, make a link for the customer: receiptctl claims new \(receipt.id) "
        + "--why TEXT" : ""
    return "Supply the user: \(command) --user USER\(claim)"
  }

  /// A destination may have asked to wait for hours.
  private static func retryNow(
    _ receipt: Receipt, app: String, _ reader: Reader, now: Timestamp
  ) -> [String] {
    guard reader == .terminal, let next = receipt.nextAttemptAt, next > now else { return [] }
    return ["To send all pending receipts of \(app) now: receiptctl apps retry-now \(app)"]
  }

  private static func replay(_ purpose: String, _ receipt: Receipt, _ reader: Reader) -> String {
    switch reader {
    case .terminal: "\(purpose): receiptctl receipts replay \(receipt.id)"
    case .page(let button): "\(purpose), use \"\(button)\"."
    }
  }
}

extension Receipt {
  /// Whether it stopped because its payment has not come, failed or expired.
  public var isUnpaid: Bool {
    reason == .payment || reason == .paymentFailed || reason == .sessionExpired
  }
}

// MARK: - DestinationAdvice

// What to do when a destination refuses its configuration, as text. Pure; called from any thread.

/// How to correct the configuration of a destination.
public struct DestinationAdvice: Sendable, Equatable {
  public let name: DestinationName
  private let settings: [String]
  private let secret: String
  private let files: [String]
  private let refresh: SecretRefresh
  /// What to do if a purchase that it accepted does not show up there: a sentence.
  public let missing: String
  /// What it does with a second receipt of a purchase, as far as is known: sentences.
  public let secondReceipt: String

  /// - Parameters:
  ///   - settings: the keys of its section that a destination judges.
  ///   - secret: the one of them that is a secret.
  ///   - files: the files that it is read from, as in the configuration: `file:/path`.
  ///   - refresh: how a corrected secret takes effect.
  ///   - missing: what to do if a purchase that it accepted does not show up there: a sentence.
  ///   - secondReceipt: what it does with a second receipt of a purchase, as far as is known: sentences.
  public init(
    _ name: DestinationName, settings: [String], secret: String, files: [String], refresh: SecretRefresh,
    missing: String, secondReceipt: String
  ) {
    self.name = name
    self.settings = settings
    self.secret = secret
    self.files = files
    self.refresh = refresh
    self.missing = missing
    self.secondReceipt = secondReceipt
  }

  /// The end of a sentence: correct `webhook (url, secret), then run: receiptctl reload`.
  /// - Parameter cause: why deliveries to it are stopped.
  public func correction(for cause: Reason?) -> String {
    let command = SecretRefresh.command(refresh, of: secret)
    // A 401 judges the credentials alone; a 403 may mean the path or a client certificate. The command names
    // a source that needs a restart.
    guard cause == .status(401) else {
      return "\(name) (\(settings.joined(separator: ", "))), \(command)"
    }
    let source = files.isEmpty || refresh != .reload ? "" : " (\(files.joined(separator: ", ")))"
    return "\(name).\(secret)\(source), \(command)"
  }
}

// MARK: - SuggestedReplay

// The replay command that messages suggest. Pure; called from any thread.

/// `receiptctl receipts replay`, ready to be copied.
public enum SuggestedReplay {
  /// Receipts per second that a destination can handle right after it recovered.
  public static let suggestedRate = "5/s"

  /// What to do if a replay of refused receipts cannot help, as sentences.
  /// - Returns: nil if the reason is not a refusal.
  public static func afterCorrection(app: AppSlug, reason: String) -> String? {
    guard Reason(reason).isRefusal else { return nil }
    return "A replay sends the same content again. If the configuration was wrong, correct it, run "
      + "receiptctl reload, and make the receipts again, all with one price: receiptctl receipts "
      + "complete --app \(app) --state failed --reason \(reason) --price PRICE --rate \(suggestedRate)"
  }

  /// Replays an app's receipts that failed for a reason and were created at or after a time.
  public static func text(app: AppSlug, reason: String, since: Timestamp) -> String {
    "receiptctl receipts replay --app \(app) --state failed --reason \(reason) --since \(since.rfc3339) "
      + "--rate \(suggestedRate)"
  }
}
