// Tests how several programs share the apps. Pure: no database.

import Platform
import Testing

@testable import PostgresStore

@Suite("Sharing apps")
struct LeasePlanTests {
  /// Lets programs follow the plan in turns until nothing changes.
  private struct Team {
    var rows: [LeaseRow]
    var members: Set<Int64>
    /// The leases that a member may own; all for one that is not here.
    var wanted: [Int64: Set<String>] = [:]
    /// Whether a free lease has been free for long.
    var isPatient = true
    var moves = 0

    init(apps: Int, members: Set<Int64>) {
      rows = (0..<apps).map { LeaseRow(name: "app\($0)", owner: nil, epoch: 0) }
      rows.append(LeaseRow(name: LeaseRow.shared, owner: nil, epoch: 0))
      self.members = members
    }

    private func isFree(_ row: LeaseRow) -> Bool { row.owner.map { !members.contains($0) } ?? true }

    mutating func step(_ me: Int64) -> Bool {
      let all = members.reduce(into: [:]) { $0[$1] = wanted[$1] ?? Set(rows.map(\.name)) }
      let plan = LeasePlan(of: me, members: all, rows: rows, isFree: isFree, isPatient: { _ in isPatient })
      for row in plan.acquired {
        guard let index = rows.firstIndex(of: row) else { continue }
        #expect(isFree(rows[index]))
        rows[index].owner = me
        rows[index].epoch += 1
        moves += 1
      }
      for index in rows.indices where plan.released.contains(rows[index].name) {
        #expect(rows[index].owner == me)
        rows[index].owner = nil
      }
      return !plan.acquired.isEmpty || !plan.released.isEmpty
    }

    /// - Returns: how many each member has; fails if it does not come to rest.
    mutating func settle() -> [Int] {
      for _ in 0..<1000 {
        var hasChanged = false
        for me in members.sorted() where step(me) { hasChanged = true }
        if !hasChanged { return members.sorted().map { me in rows.count { $0.owner == me } } }
      }
      Issue.record("the shares do not come to rest")
      return []
    }
  }

  @Test(arguments: [1, 2, 3, 7], [0, 1, 5, 40])
  func `Any number of programs gets equal shares of any number of apps`(members: Int, apps: Int) {
    var team = Team(apps: apps, members: Set((1...members).map(Int64.init)))
    let shares = team.settle()
    #expect(shares.reduce(0, +) == apps + 1)
    #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
  }

  @Test func `A program that comes gets its share, and no more apps move than it gets`() {
    var team = Team(apps: 39, members: [1, 2, 3])
    _ = team.settle()
    team.moves = 0
    team.members.insert(4)
    #expect(team.settle() == [10, 10, 10, 10])
    #expect(team.moves == 10)
  }

  @Test func `A program that comes gets its share of a hundred apps in one round of each`() {
    var team = Team(apps: 99, members: [1])
    _ = team.settle()
    team.members.insert(2)
    let (first, second) = (team.step(1), team.step(2))
    #expect(first)
    #expect(second)
    #expect(team.rows.count { $0.owner == 2 } == 50)
    let (third, fourth) = (team.step(1), team.step(2))
    #expect(!third)
    #expect(!fourth)
  }

  @Test func `The apps of a program that ended go to the others, and few others move`() {
    var team = Team(apps: 39, members: [1, 2, 3, 4])
    _ = team.settle()
    team.moves = 0
    team.members.remove(2)
    let shares = team.settle()
    #expect(shares.reduce(0, +) == 40)
    #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
    // Two of them may move once more, to make the shares equal.
    #expect(team.moves <= 12)
  }

  @Test func `An app that only one program has in its configuration is that program's`() {
    var team = Team(apps: 10, members: [1, 2])
    team.wanted[2] = ["app3"]
    _ = team.settle()
    #expect(team.rows.count { $0.owner == nil } > 0)
    // Nobody else has acquired the others for a while.
    team.isPatient = false
    _ = team.settle()
    #expect(team.rows.allSatisfy { $0.owner != nil })
    #expect(team.rows.filter { $0.owner == 2 }.map(\.name) == ["app3"])
  }

  @Test func `A value counts as unchanged by this program's clock, from when it was first seen`() {
    var watch = ChangeWatch<String, Int>()
    let start = MonotonicInstant(nanoseconds: 0)
    func at(_ seconds: Int64) -> MonotonicInstant { start + .seconds(seconds) }
    #expect(!watch.isUnchanged("a", for: .zero, at: start))
    watch.note(["a": 1, "b": 1], at: at(0))
    watch.note(["a": 1, "b": 2], at: at(2))
    #expect(watch.isUnchanged("a", for: .seconds(3), at: at(3)))
    #expect(!watch.isUnchanged("b", for: .seconds(3), at: at(3)))
    watch.note(["b": 2], at: at(4))
    watch.note(["a": 1, "b": 2], at: at(5))
    #expect(!watch.isUnchanged("a", for: .seconds(3), at: at(6)))
    #expect(watch.isUnchanged("b", for: .seconds(3), at: at(6)))
  }
}
