// A job: work on many receipts that an operator requested once. It continues across restarts until it is
// done. Values; pure; any thread.

public import Domain
public import Formats

/// What a job does to each of its receipts.
public enum JobKind: String, Sendable, CaseIterable {
  case replay, cancel, complete, correct
}

/// The state of a job.
public enum JobState: String, Sendable, CaseIterable {
  /// Its receipts are being chosen; none has been changed.
  case preparing
  case running
  /// No further receipt is released; released receipts continue.
  case paused
  /// Each receipt was released and has ended.
  case done
  /// An operator cancelled it. Released receipts continue; the others are not changed.
  case cancelled
}

/// The outcome of one receipt of a job.
public enum JobOutcome: String, Sendable, CaseIterable {
  /// It has not been released.
  case planned
  /// The job released it, and it has not ended.
  case released
  case delivered, failed, cancelled
  /// It was not changed; the reason says why not.
  case skipped
  /// It no longer exists.
  case gone
}

/// Which receipts a job concerns.
public enum JobSource: Sendable, Equatable {
  /// The receipts that match when the job is created; at most `limit`, the newest.
  case filter(ReceiptFilter, limit: Int?)
  /// Named one by one. The program that starts the job adds them with `ExtendJob`, in slices.
  case ids(count: Int)
}

/// An operator's request for a job.
public struct JobRequest: Sendable, Equatable {
  /// The valid rates, in receipts per second.
  public static let rates = 0.001...10_000.0

  public var kind: JobKind
  public var source: JobSource
  /// Whether delivered receipts are sent again (R3).
  public var force: Bool
  /// Receipts per second; nil for no limit. Stored in thousandths.
  public var ratePerSecond: Double?
  /// The price with which receipts are completed or corrected.
  public var priceID: PriceID?
  /// The user for whom receipts are corrected.
  public var userID: UserID?
  /// The requester: the operating system's user, or another source.
  public var actor: String
  /// The operator's reason.
  public var reason: String?

  public init(
    kind: JobKind = .replay, source: JobSource, force: Bool = false, ratePerSecond: Double? = nil,
    priceID: PriceID? = nil, userID: UserID? = nil, actor: String, reason: String? = nil
  ) {
    self.kind = kind
    self.source = source
    self.force = force
    self.ratePerSecond = ratePerSecond
    self.priceID = priceID
    self.userID = userID
    self.actor = actor
    self.reason = reason
  }
}

/// The number of a job's receipts with the same outcome and reason.
public struct JobCount: Sendable, Equatable {
  public var outcome: JobOutcome
  /// Why a receipt failed, was cancelled or was skipped (`OperatorResult.code`).
  public var reason: String?
  public var count: Int

  public init(outcome: JobOutcome, reason: String?, count: Int) {
    self.outcome = outcome
    self.reason = reason
    self.count = count
  }
}

/// A job and its progress.
public struct Job: Sendable, Equatable {
  public var row: JobRowID
  public var id: JobID
  public var state: JobState
  public var request: JobRequest
  /// The number of receipts chosen so far; complete once the job is not `preparing` any more.
  public var total: Int
  /// The search position; the id of a receipt.
  public var foundTo: String?
  public var pace: Pace
  /// Why it ended, if no operator ended it.
  public var note: String?
  public var createdAt: Timestamp
  public var updatedAt: Timestamp
  /// When it ended: it is done, or it is cancelled and the released receipts have ended.
  public var endedAt: Timestamp?
  /// The outcomes of its receipts, without the planned ones.
  public var counts: [JobCount] = []
  /// How many receipts per second the apps of its planned receipts deliver at most; nil if that is not known.
  /// Not stored: the configuration says so.
  public var deliveriesPerSecond: Double?

  /// The number of receipts with an outcome.
  public func count(_ outcome: JobOutcome) -> Int {
    let processed = counts.reduce(0) { $0 + $1.count }
    if outcome == .planned { return max(0, total - processed) }
    return counts.reduce(0) { $0 + ($1.outcome == outcome ? $1.count : 0) }
  }

  /// The number of receipts with a final outcome.
  public var processed: Int { total - count(.released) - count(.planned) }

  /// Receipts that did not reach the requested outcome: failed, skipped, gone, and cancelled unless that was
  /// requested.
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

  /// How many receipts per second it releases at most: no more than its apps deliver. Nil without a rate.
  public var effectiveRate: Double? {
    request.ratePerSecond.map { rate in
      request.kind == .cancel ? rate : min(rate, deliveriesPerSecond ?? rate)
    }
  }

  /// How many seconds the release of the planned receipts takes; nil without a rate.
  public var releaseSecondsLeft: Double? { effectiveRate.map { Double(count(.planned)) / $0 } }
}

extension OperatorResult {
  /// One word for the result, as a job stores it.
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
    case .corrected: "corrected"
    case .unchanged: "unchanged"
    case .reversed: "reversed"
    }
  }

  /// The result with this code; nil if there is none.
  public init?(code: String) {
    switch code {
    case "done": self = .done
    case "not_found": self = .notFound
    case "delivered": self = .delivered
    case "context_not_usable": self = .contextNotUsable
    case "erased": self = .erased
    case "corrected": self = .corrected
    case "unchanged": self = .unchanged
    case "reversed": self = .reversed
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

  /// The code for a receipt whose app is not configured.
  static let appCode = "app"
}

// MARK: - JobHold

// Why a job releases nothing of an app. Values.

/// What holds an app's receipts, so that a job releases none of them.
public enum JobHold: Sendable, Equatable {
  /// A destination is down, or refuses the configuration; one receipt may go as the probe.
  case breaker(AppDestination, Breaker)
  /// An operator has paused the app.
  case pause(AppSlug, AppPause)

  public var app: AppSlug {
    switch self {
    case .breaker(let place, _): place.app
    case .pause(let app, _): app
    }
  }
}

// MARK: - JSON

// A job's request as stored and as displayed to operators: a JSON object with the names of the options. Pure;
// any thread.

extension JobSource {
  /// `{"state":"failed","reason":"gave_up"}`; times are Unix milliseconds.
  public var json: JSONValue {
    switch self {
    case .ids(let count): return ["ids": .integer(Int64(count))]
    case .filter(let filter, let limit):
      var members: [JSONValue.Member] = []
      func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name: name, value: value)) }
      }
      add("app", filter.app.map { .string($0.text) })
      add("processor", filter.processor.map { .string($0.text) })
      add("state", filter.states.words.map(JSONValue.string))
      add("user", filter.userID.map { .string($0.text) })
      add("customer", filter.customerID.map { .string($0.text) })
      add("reason", filter.reason.map(JSONValue.string))
      add("cause", filter.cause.map(JSONValue.string))
      add("status", filter.status.map { .string($0.text) })
      add("price", filter.priceID.map { .string($0.text) })
      add("join", (filter.join?.rawValue).map(JSONValue.string))
      add("object", filter.objectID.map { .string($0.text) })
      add("session", filter.sessionID.map { .string($0.text) })
      add("import_id", filter.importID.map(JSONValue.string))
      add("no_import_id", filter.lacksImportID ? .bool(true) : nil)
      add("user_conflict", filter.isInConflict ? .bool(true) : nil)
      add("since", filter.since.map { .integer($0.unixMilliseconds) })
      add("until", filter.until.map { .integer($0.unixMilliseconds) })
      add("limit", limit.map { .integer(Int64($0)) })
      return .object(members)
    }
  }

  /// - Parameter text: as `json` was stored. An invalid text chooses no receipts.
  init(_ text: String) {
    // Written by `json` above.
    guard let json = try? JSONValue(parsing: Array(text.utf8)) else {
      self = .ids(count: 0)
      return
    }
    // A part that cannot be read must not choose more receipts than the operator saw.
    var isReadable = true
    func integer(_ name: String) -> Int64? {
      guard let value = json[name] else { return nil }
      if case .integer(let number) = value { return number }
      isReadable = false
      return nil
    }
    func string(_ name: String) -> String? {
      guard let value = json[name] else { return nil }
      if value.stringValue == nil { isReadable = false }
      return value.stringValue
    }
    if let count = integer("ids") {
      self = .ids(count: Int(clamping: count))
      return
    }
    var filter = ReceiptFilter()
    filter.app = string("app").map(AppSlug.init)
    filter.processor = string("processor").map(ProcessorName.init)
    if let state = string("state") {
      let states = Set<ReceiptState>(words: state)
      filter.states = states ?? []
      if states == nil { isReadable = false }
    }
    filter.userID = string("user").map(UserID.init)
    filter.customerID = string("customer").map(CustomerID.init)
    filter.reason = string("reason")
    filter.objectID = string("object").map(ObjectID.init)
    filter.sessionID = string("session").map(SessionID.init)
    filter.importID = string("import_id")
    filter.cause = string("cause")
    if let status = string("status") {
      filter.status = AnswerStatus(status)
      if filter.status == nil { isReadable = false }
    }
    filter.priceID = string("price").map(PriceID.init)
    if let join = string("join") {
      filter.join = JoinOutcome(rawValue: join)
      if filter.join == nil { isReadable = false }
    }
    filter.lacksImportID = json["no_import_id"] == .bool(true)
    filter.isInConflict = json["user_conflict"] == .bool(true)
    filter.since = integer("since").map(Timestamp.init(unixMilliseconds:))
    filter.until = integer("until").map(Timestamp.init(unixMilliseconds:))
    let limit = integer("limit").map { Int(clamping: $0) }
    self = isReadable ? .filter(filter, limit: limit) : .ids(count: 0)
  }
}
