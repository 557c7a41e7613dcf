// `receipts replay --wait`: follows receipts by asking the database until each has ended. Changes nothing;
// may be interrupted.

internal import Domain
internal import Platform
internal import Presentation
internal import Relay
internal import Store
internal import Terminal

struct ReplayFollow {
  /// Between two looks.
  static let pauseMilliseconds: Int64 = 250
  /// Without progress for so long, it says why.
  static let quietMilliseconds: Int64 = 10_000

  private let session: Session
  private let configuration: Configuration
  private let reader: StoreReader
  private let total: Int
  private var rest: [String]
  private var ends: [ReceiptState: Int] = [:]
  private var gone = 0
  private var told = ""

  init(_ session: Session, _ configuration: Configuration, _ reader: StoreReader, ids: [String]) {
    self.session = session
    self.configuration = configuration
    self.reader = reader
    rest = ids
    total = ids.count
  }

  /// - Returns: how many ended otherwise than delivered.
  mutating func run() throws -> Int {
    if session.daemonProcess(configuration) == nil {
      session.output.note("No receiptd seems to serve this database; they are delivered once one does.")
    }
    var bar = ProgressBar(
      "delivering", total: total, on: session.output.notes, clock: session.surroundings.clock)
    let outcome = Result { try follow(&bar) }
    bar.finish()
    try outcome.get()
    return report()
  }

  private mutating func follow(_ bar: inout ProgressBar) throws {
    let clock = session.surroundings.clock
    var lastProgress = clock.monotonic
    while true {
      let before = rest.count
      try look()
      bar.update(done: total - rest.count)
      if rest.isEmpty { return }
      if rest.count < before { lastProgress = clock.monotonic }
      if clock.monotonic.milliseconds(since: lastProgress) >= Self.quietMilliseconds { try tellWhy() }
      session.surroundings.pause(Self.pauseMilliseconds)
    }
  }

  private mutating func look() throws {
    let found = try ReceiptOutline.all(rest, reader)
    gone += rest.count - found.count
    rest = []
    for receipt in found {
      switch receipt.state {
      case .pending, .waiting: rest.append(receipt.id)
      case .delivered, .failed, .cancelled: ends[receipt.state, default: 0] += 1
      }
    }
  }

  /// Why nothing moves, as far as the breakers tell; each state of theirs once.
  private mutating func tellWhy() throws {
    let apps = Set(try ReceiptOutline.all(Array(rest.prefix(StoreReader.idsMax)), reader).map(\.app))
    for (app, breaker) in try reader.breakers() where apps.contains(app) {
      guard let text = BreakerText(breaker, app: DisplayText.clean(app), now: session.now) else { continue }
      let key = "\(app) \(breaker.state.rawValue) \(breaker.cause?.text ?? "")"
      if key != told {
        session.output.note("Deliveries of \(DisplayText.clean(app)) \(text.sentence) \(text.advice)")
      }
      told = key
    }
  }

  private func report() -> Int {
    let delivered = ends[.delivered] ?? 0
    var parts = ["\(delivered) delivered"]
    for state in [ReceiptState.failed, .cancelled] {
      if let count = ends[state] { parts.append("\(count) \(state.rawValue)") }
    }
    if gone > 0 { parts.append("\(gone) gone") }
    session.output.note(parts.joined(separator: ", ") + ".")
    return total - delivered
  }
}
