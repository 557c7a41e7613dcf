// A job: work on many receipts that a person asked for once and that goes on until it is done, whichever
// program comes and goes. Values; pure; any thread.

public import Domain

/// What a job does to each of its receipts.
public enum JobKind: String, Sendable, CaseIterable {
  case replay, cancel, complete
}

/// Where a job stands.
public enum JobState: String, Sendable, CaseIterable {
  /// Its receipts are being chosen; none has been touched.
  case preparing
  case running
  /// No further receipt gets its turn; those that had it go on.
  case paused
  /// Each receipt had its turn and has ended.
  case done
  /// Somebody stopped it. Receipts that had their turn go on, the others stay as they were.
  case cancelled
}

/// What came of one receipt of a job.
public enum JobOutcome: String, Sendable, CaseIterable {
  /// It has not had its turn.
  case planned
  /// It is on its way because of the job.
  case released
  case delivered, failed, cancelled
  /// It was left as it was: what it would have taken to change it is the reason.
  case skipped
  /// It no longer exists.
  case gone
}

/// Which receipts a job is about.
public enum JobSource: Sendable, Equatable {
  /// Those that match when the job is made; at most `limit`, the newest.
  case filter(ReceiptFilter, limit: Int?)
  /// Named one by one. Whoever starts the job hands them over with `ExtendJob`, in slices.
  case ids(count: Int)
}

/// What somebody asks for.
public struct JobRequest: Sendable, Equatable {
  /// What a rate may be, in receipts a second.
  public static let rates = 0.001...10_000.0

  public var kind: JobKind
  public var source: JobSource
  /// Whether delivered ones are sent again (R3).
  public var force: Bool
  /// Receipts a second; nil as fast as it goes. Kept to a thousandth.
  public var ratePerSecond: Double?
  /// What receipts are completed with.
  public var priceID: String?
  /// Who asks: the operating system's user, or where else it comes from.
  public var actor: String
  /// The person's words.
  public var reason: String?

  public init(
    kind: JobKind = .replay, source: JobSource, force: Bool = false, ratePerSecond: Double? = nil,
    priceID: String? = nil, actor: String, reason: String? = nil
  ) {
    self.kind = kind
    self.source = source
    self.force = force
    self.ratePerSecond = ratePerSecond
    self.priceID = priceID
    self.actor = actor
    self.reason = reason
  }
}

/// How many receipts of a job came to the same.
public struct JobCount: Sendable, Equatable {
  public var outcome: JobOutcome
  /// Why a receipt failed or was cancelled, or why it was skipped (`OperatorResult.code`).
  public var reason: String?
  public var count: Int

  public init(outcome: JobOutcome, reason: String?, count: Int) {
    self.outcome = outcome
    self.reason = reason
    self.count = count
  }
}

/// A job as it stands.
public struct Job: Sendable, Equatable {
  public var row: Int64
  public var id: String
  public var state: JobState
  public var request: JobRequest
  /// Receipts that were chosen so far; all of them once it is not `preparing` any more.
  public var total: Int
  /// Where the search for more goes on; the id of a receipt.
  public var foundTo: String?
  public var pace: Pace
  /// Why it ended, where nobody asked for it.
  public var note: String?
  public var createdAt: Timestamp
  public var updatedAt: Timestamp
  /// When nothing of it was left to come: it is done, or cancelled and what it had released has ended.
  public var endedAt: Timestamp?
  /// What came of its receipts, without those that are planned.
  public var counts: [JobCount] = []

  public func count(_ outcome: JobOutcome) -> Int {
    let settled = counts.reduce(0) { $0 + $1.count }
    if outcome == .planned { return max(0, total - settled) }
    return counts.reduce(0) { $0 + ($1.outcome == outcome ? $1.count : 0) }
  }

  /// Those of which nothing more is to come because of the job.
  public var settled: Int { total - count(.released) - count(.planned) }

  /// What was not done as it was asked: failed, skipped, gone, and where it was not the aim, cancelled.
  public var missed: [JobCount] {
    counts.filter { count in
      switch count.outcome {
      case .failed, .skipped, .gone: true
      case .cancelled: request.kind != .cancel
      case .planned, .released, .delivered: false
      }
    }.sorted {
      ($1.count, $0.outcome.rawValue, $0.reason ?? "") < ($0.count, $1.outcome.rawValue, $1.reason ?? "")
    }
  }

  /// How long the receipts that have not had their turn take at its rate; nil without a rate.
  public var releaseSecondsLeft: Double? {
    request.ratePerSecond.map { Double(count(.planned)) / $0 }
  }
}

extension OperatorResult {
  /// One word for what became of a receipt, as a job notes it.
  public var code: String {
    switch self {
    case .done: "done"
    case .notFound: "not_found"
    case .delivered: "delivered"
    case .lacks(let reason): "lacks_\(reason.text)"
    case .notAllowed(let state): "is_\(state.rawValue)"
    case .contextNotUsable: "context_not_usable"
    case .erased: "erased"
    case .known(let reason): "known_\(reason.text)"
    }
  }

  public init?(code: String) {
    switch code {
    case "done": self = .done
    case "not_found": self = .notFound
    case "delivered": self = .delivered
    case "context_not_usable": self = .contextNotUsable
    case "erased": self = .erased
    default:
      if code.hasPrefix("lacks_") {
        self = .lacks(Reason(String(code.dropFirst(6))))
      } else if code.hasPrefix("known_") {
        self = .known(Reason(String(code.dropFirst(6))))
      } else if code.hasPrefix("is_"), let state = ReceiptState(rawValue: String(code.dropFirst(3))) {
        self = .notAllowed(state)
      } else {
        return nil
      }
    }
  }

  /// The app of a receipt is not configured (any more).
  static let appCode = "app"
}
