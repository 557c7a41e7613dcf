// Every order of a few happenings around one purchase, against the model.

import Domain
import TestSupport
import Testing

@Suite("Join and claims in every order", .everyEngine)
struct JoinModelTorture {
  /// How many orders share a store.
  private static let together = 1_000

  @Test(
    "In every order a purchase has one receipt, of the strongest user named, or waits visibly (R2, R4, R5)",
    arguments: JoinShape.all)
  func orders(shape: JoinShape) throws {
    var (explored, steps) = (0, 0)
    var ends: [End: (finding: JoinFinding, order: [JoinHappening])] = [:]
    for orders in Self.groups() {
      let run = try JoinModelRun(orders, shape)
      try run.run()
      try #require(run.wrong.isEmpty, "\(run.wrong.prefix(12).joined(separator: "\n"))")
      for (model, order, finding) in run.ends {
        let end = End(happenings: model.past, exceptions: model.exceptions)
        let first = ends[end] ?? (finding, order)
        ends[end] = first
        try #require(finding == first.finding, "\(shape): \(order) ends otherwise than \(first.order)")
      }
      explored += orders.count
      steps += run.steps
    }
    guard !Self.isServer else { return }
    // The model reaches what it is about.
    let found = Set(ends.values.map(\.finding.state))
    #expect(found.isSuperset(of: ["none", "waiting/user", "pending", "delivered", "cancelled/erased"]))
    let name = "\(shape.reference), \(shape.subscription)"
    Torture.report("join and claims", "orders (\(name))", explored)
    Torture.report("join and claims", "steps, each lost, done and repeated (\(name))", steps)
  }

  /// The rules are the same on a server, which takes ten times as long.
  private static var isServer: Bool { TestEngine.current.name != TestEngine.sqlite.name }

  private struct End: Hashable {
    var happenings: Set<JoinHappening>
    var exceptions: JoinModel.Exceptions
  }

  /// The orders, those together that let time pass at the same steps.
  private static func groups() -> [[[JoinHappening]]] {
    var groups: [[Int]: [[JoinHappening]]] = [:]
    let length = Torture.size(short: isServer ? 2 : 3, long: isServer ? 3 : 5)
    for order in JoinHappening.orders(upTo: length) {
      let key = [order.count] + [.sending, .answer].map { order.firstIndex(of: $0) ?? -1 }
      groups[key, default: []].append(order)
    }
    return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { _, orders in
      stride(from: 0, to: orders.count, by: together).map {
        Array(orders[$0..<min($0 + together, orders.count)])
      }
    }
  }
}

extension JoinHappening {
  /// Every order of different happenings, but those with a step that cannot change anything: a claim before
  /// the checkout, or a delivery before an event.
  static func orders(upTo length: Int) -> [[JoinHappening]] {
    var all: [[JoinHappening]] = []
    var last: [[JoinHappening]] = [[]]
    for _ in 0..<length {
      last = last.flatMap { order in
        JoinHappening.allCases.filter { !order.contains($0) && $0.canFollow(order) }.map { order + [$0] }
      }
      all += last
    }
    return all
  }

  private func canFollow(_ order: [JoinHappening]) -> Bool {
    switch self {
    case .claimByOne, .claimByOther: order.contains(.completed)
    case .sending, .answer: order.contains(.completed) || order.contains(.subscription)
    case .erasure: !order.isEmpty
    default: true
    }
  }
}
