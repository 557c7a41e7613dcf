// A capture with its payment: which call is next, and what its reply changes. The worker that carries
// captures out has one of these for each open capture, and makes one call at a time for it. Pure; any
// thread.

public import Domain

/// A capture that is being carried out.
public struct CaptureRun: Sendable, Equatable {
  /// A call to make.
  public enum Step: Sendable, Equatable {
    /// The call that captures.
    case send(BackendCall)
    case lookUp(BackendCall)

    public var call: BackendCall {
      switch self {
      case .send(let call), .lookUp(let call): call
      }
    }
  }

  /// What a reply changed, beside the capture.
  public struct Progress: Sendable, Equatable {
    /// What to store in the transaction of the outcome; nil if there is nothing to store.
    public var report: PurchaseReport?
    /// Why the reply proved nothing; nil if it proved something.
    public var trouble: BackendTrouble?
  }

  /// The pause if there is no room for another call.
  static let busyPause: Duration = .seconds(1)

  public let payment: CapturablePayment
  public private(set) var capture: Capture
  /// The call that the newest lookup named.
  private var foundCall: BackendCall?
  /// What to store with a refusal that a lookup must confirm.
  private var refusalReport: PurchaseReport?

  /// Continues a capture.
  public init(_ payment: CapturablePayment, _ capture: Capture) {
    self.payment = payment
    self.capture = capture
  }

  /// Begins a capture whose order was stored just now.
  /// - Parameter isRepeat: as `CaptureAdmission.begin` has it.
  public init(beginning payment: CapturablePayment, isRepeat: Bool, by captures: any PaymentCaptures) {
    let needsLookup = captures.captureCall(payment) == nil
    self.init(
      payment, Capture(orderedAt: payment.orderedAt, isRepeat: isRepeat, needsLookup: needsLookup))
  }

  /// Continues a capture of before a restart.
  public init(
    _ payment: CapturablePayment, failures: Int64, retryAt: Timestamp, isGivenUp: Bool = false, now: Timestamp
  ) {
    var capture = Capture(
      resuming: payment.orderedAt, failures: failures, retryAt: retryAt, isGivenUp: isGivenUp)
    capture.bringBack(to: now)
    self.init(payment, capture)
  }

  /// When the next call is due; nil if the capture has ended.
  public var dueAt: Timestamp? { capture.dueAt }

  /// The next call; nil if the capture has ended.
  public func nextStep(by captures: any PaymentCaptures) -> Step? {
    switch capture.phase {
    case .ended: nil
    case .sending: (foundCall ?? captures.captureCall(payment)).map(Step.send)
    case .lookingUp, .confirming, .accepted: .lookUp(captures.lookupCall(payment))
    }
  }

  /// Brings the next lookup forward, because an app waits for the outcome.
  public mutating func hasten(now: Timestamp) { apply(.awaited, now: now) }

  /// Applies the reply to a step.
  public mutating func finish(
    _ step: Step, _ reply: BackendReply, by captures: any PaymentCaptures, now: Timestamp
  ) -> Progress {
    // The clock may have been set back.
    capture.bringBack(to: now)
    if reply == .busy {
      apply(.postponed(until: now + Self.busyPause), now: now)
      return Progress()
    }
    foundCall = nil
    var progress = Progress()
    switch step {
    case .send:
      let reading = captures.readCapture(reply, of: payment, now: now)
      apply(.sent(meaning(of: reading, reply, &progress)), now: now)
    case .lookUp:
      var reading = captures.readLookup(reply, of: payment, now: now)
      if case .nothingCaptured(let call) = reading {
        foundCall = call
        if call == nil, captures.captureCall(payment) == nil { reading = .unclear(.unreadable) }
      }
      apply(.lookedUp(meaning(of: reading, reply, &progress)), now: now)
    }
    keepReport(&progress)
    return progress
  }

  private func meaning(
    of reading: CaptureReading, _ reply: BackendReply, _ progress: inout Progress
  ) -> CaptureReply {
    if reply == .unreachable {
      progress.trouble = .unreachable
      return .notSent
    }
    switch reading {
    case .ended(let outcome, let report):
      progress.report = report
      return .ended(outcome)
    case .nothingCaptured: return .nothingCaptured
    case .accepted: return .accepted
    case .unclear(let trouble):
      progress.trouble = trouble
      return .unclear
    }
  }

  /// The report of a refusal waits with the refusal.
  private mutating func keepReport(_ progress: inout Progress) {
    if capture.phase == .confirming, let report = progress.report {
      refusalReport = report
      progress.report = nil
    } else if let outcome = capture.outcome, outcome.kind != .abandoned, progress.report == nil {
      progress.report = outcome.kind == .captured ? nil : refusalReport
    }
  }

  /// A step belongs to the phase that gave it, so a refusal means that the reply came for an older step: it
  /// is ignored.
  private mutating func apply(_ event: CaptureEvent, now: Timestamp) { try? capture.apply(event, now: now) }
}
