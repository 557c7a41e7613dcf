// What the copy for a second destination does after a decision about the purchase's own receipt. Pure; called
// from any thread.

/// A copy's next step.
public enum CopyStep: Sendable, Equatable {
  /// It goes its own way.
  case nothing
  /// The sale is not the app's.
  case except
  /// It gets the decision about the purchase's own receipt.
  case follow(ReceiptResolution)
  /// The content is known: it is to be sent, if it was not sent yet.
  case send

  /// - Parameters:
  ///   - own: the purchase's own receipt; nil if retention has deleted it.
  ///   - isFixed: whether the copy keeps its content, because its destination may have it.
  ///   - copy: the copy's receipt.
  public init(after own: Receipt?, isFixed: Bool, _ copy: Receipt?) {
    guard let copy, !copy.isReversal, copy.state != .delivered else {
      self = .nothing
      return
    }
    self = own.map { Self.step(after: $0, isFixed: isFixed, copy) } ?? .send
  }

  private static func step(after own: Receipt, isFixed: Bool, _ copy: Receipt) -> Self {
    switch (own.state, own.reason) {
    case (.pending, _), (.delivered, _): return .send
    // The destination of the first says nothing about that of the copy.
    case (.waiting, .destination?): return .send
    case (.waiting, let reason?):
      guard !isFixed, let until = own.waitUntil else { return .nothing }
      return .follow(.waiting(reason, until: until))
    case (.failed, let reason?):
      guard Reason.ofJoin.contains(reason) else { return .send }
      return isFixed ? .nothing : .follow(.failed(reason))
    case (.cancelled, .foreign?): return .except
    case (.cancelled, .erased?): return .nothing
    case (.cancelled, let reason?):
      if Reason.ofJoin.contains(reason) { return isFixed ? .nothing : .follow(.cancelled(reason)) }
      // An operator cancels one of the two. Without the first, nothing completes a copy that waits for it.
      return copy.state == .waiting && copy.reason != .destination ? .follow(.cancelled(reason)) : .nothing
    case (.waiting, nil), (.failed, nil), (.cancelled, nil): return .nothing
    }
  }
}
