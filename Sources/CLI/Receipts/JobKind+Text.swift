// How the bulk commands describe what they do, and why they leave a receipt unchanged. Pure; any thread.

internal import Domain
internal import Formats
internal import Platform
internal import Store
internal import Terminal

extension JobKind {
  /// `Replay`
  var verb: String {
    switch self {
    case .replay: "Replay"
    case .cancel: "Cancel"
    case .complete: "Complete"
    case .correct: "Correct"
    }
  }

  /// `Replayed`; in lower case it is the name of the count in `--json`.
  var past: String {
    switch self {
    case .replay: "Replayed"
    case .cancel: "Cancelled"
    case .complete: "Completed"
    case .correct: "Corrected"
    }
  }

  /// `queueing`: what the command itself does; receiptd delivers.
  var doing: String {
    switch self {
    case .replay: "queueing"
    case .cancel: "cancelling"
    case .complete: "completing"
    case .correct: "correcting"
    }
  }

  /// Why a receipt in this state stays unchanged, as the end of a sentence that begins with its id.
  func refusal(_ state: ReceiptState, _ reason: Reason?, id: String) -> String {
    switch (self, state) {
    case (.replay, .delivered): "is delivered already; --force sends it again"
    case (.cancel, .delivered): "is delivered already and cannot be recalled"
    case (.cancel, .cancelled): "is cancelled already"
    case (.correct, .waiting), (.correct, .failed), (.correct, .cancelled):
      "was not delivered: receiptctl receipts complete supplies what it lacks"
    case (.complete, .waiting), (.complete, .failed), (.complete, .cancelled):
      reason == .user || reason == .subscription
        ? OperatorResult.lacks(reason ?? .user).explanation(id: id)
        : "does not lack a price; to replace it, complete one receipt with --force, or choose those that the "
          + "destination refused with --reason, such as --reason http_422"
    case (.replay, .waiting), (.replay, .failed), (.replay, .cancelled), (.replay, .pending):
      OperatorResult.lacks(reason ?? .user).explanation(id: id)
    default: OperatorResult.notAllowed(state).explanation(id: "")
    }
  }
}

enum Counted {
  /// `1 event`, `3 events`
  static func of(_ count: Int, _ group: String) -> String { CountText.of(count, group) }

  /// `1 receipt`, `3 receipts`
  static func receipts(_ count: Int) -> String { of(count, "receipt") }

  /// `5/s`, `0.5/s`
  static func rate(_ perSecond: Double) -> String { CountText.rate(perSecond) }

  /// `about 14 min at 5/s`
  static func estimate(_ count: Int, perSecond: Double) -> String {
    "about \(RelativeTime.left(seconds: Double(count) / perSecond)) at \(rate(perSecond))"
  }

  static func seconds(_ count: Int, perSecond: Double) -> UInt64 {
    UInt64(min(Double(count) / perSecond, 1e15).rounded(.up))
  }
}

/// The receipts that a bulk command left unchanged, and why.
final class Refusals {
  /// The rest is only counted: thousands of lines would be useless.
  static let shownMax = 20

  private let output: Output
  /// Lines that were not printed yet.
  private var lines: [String] = []
  private var groups: [(why: String, count: Int)] = []
  private var unsaid = 0
  private var count = 0

  init(_ output: Output) { self.output = output }

  var isEmpty: Bool { count == 0 }

  func add(_ id: String, _ why: String) {
    count += 1
    unsaid += 1
    if lines.count < Self.shownMax { lines.append("\(DisplayText.clean(id)) \(why)") }
  }

  /// Adds several with one reason; the first of them are added individually.
  func add(more: Int) {
    count += max(0, more)
    unsaid += max(0, more)
  }

  /// Adds a whole group with one reason.
  func add(group: ReceiptGroup, _ why: String) {
    count += group.count
    if let index = groups.firstIndex(where: { $0.why == why }) {
      groups[index].count += group.count
    } else {
      groups.append((why, group.count))
    }
  }

  /// Prints the refusals that were not printed yet, on stderr.
  func note() {
    for line in lines { output.error(line) }
    if unsaid > lines.count {
      output.error("\(CountText.grouped(unsaid - lines.count)) more were left as they are")
    }
    for (why, count) in groups { output.error("\(Counted.receipts(count)) left as they are: each \(why)") }
    (lines, groups, unsaid) = ([], [], 0)
  }
}

extension OperatorResult {
  /// Why a receipt stayed unchanged, as the end of a sentence that begins with its id.
  func explanation(id: String) -> String {
    let id = DisplayText.clean(id)
    switch self {
    case .done: return "is done"
    case .notFound: return "no longer exists"
    case .delivered: return "is delivered already; --force sends it again"
    case .lacks(.user): return "lacks its user: receiptctl receipts complete \(id) --user USER"
    case .lacks(.price): return "lacks its price: receiptctl receipts complete \(id) --price PRICE"
    case .lacks(.subscription):
      return "is about a subscription that has no id yet; it comes with the payment"
    case .lacks(.payment):
      return "is unpaid; to send it although it is unpaid: receiptctl receipts replay \(id)"
    case .lacks(.destination):
      return "has no destination; configure the one that deliver_to names, then run: receiptctl reload; "
        + "details: receiptctl receipts show \(id)"
    case .lacks(let reason): return "lacks its \(DisplayText.clean(reason.text))"
    case .known(let reason):
      return "has a \(DisplayText.clean(reason.text)) already; --force replaces it"
    case .corrected:
      return "is corrected by another receipt, which counts: receiptctl receipts show \(id)"
    case .unchanged: return "says that already"
    case .reversed: return "reports that the money went back, which nothing corrects"
    case .erased: return "was erased with its user; there is nothing left to send"
    case .notAllowed(.delivered): return "is delivered already"
    case .notAllowed(.pending): return "is pending already; cancel it first to change it"
    case .notAllowed(let state): return "cannot be changed while it is \(state.rawValue)"
    case .contextNotUsable:
      return "cannot have that context: it is not of this app and user, or another purchase has it; see "
        + "receiptctl contexts list"
    }
  }
}
