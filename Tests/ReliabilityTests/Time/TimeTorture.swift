// The wall clock is set forward and back, the machine sleeps, a leap second is added: case by case, in the
// simulated world. Waits are measured on the monotonic clock.

import Platform
import SQLiteStore
import Sandbox
import SimulatedDisk
import Testing

@Suite struct TimeTorture {
  private static let second = SimulatedWorld.second
  private static let minute = SimulatedWorld.minute
  private static let hour = SimulatedWorld.hour
  private static let day = SimulatedWorld.day
  private static let jumps = [hour, -hour, 365 * day, -365 * day, second, -second]
  private static let app = "other"

  /// A quiet world that looks as often as a real relay.
  private static func world() throws -> SimulatedWorld {
    let world = try SimulatedWorld(seed: 1)
    world.isHealed = true
    world.lookInterval = 5 * second
    return world
  }

  /// A purchase now, without contexts and without trouble.
  private static func buy(_ world: SimulatedWorld, count: Int = 1) {
    for _ in 0..<count {
      let number = world.stories.count
      world.stories.append(Story(number: number, app: app, kind: .payment, random: &world.random))
      world.events.append(
        world.stories[number].events(at: world.wall, random: &world.random).map {
          SimulatedWorld.SentEvent(id: $0.id, body: $0.body)
        })
      world.agenda.add(.send(story: number, event: 0, attempts: 0), at: world.now)
    }
  }

  private static func arrivals(_ world: SimulatedWorld) -> [Arrival] {
    world.memory.arrivals.values.flatMap(\.self).sorted { $0.atMonotonic < $1.atMonotonic }
  }

  private static func states(_ world: SimulatedWorld) throws -> [String] {
    let connection = try Connection(path: world.disk.path(), mode: .readOnly, busyTimeout: .zero)
    return try connection.prepare("SELECT DISTINCT state FROM purchases").all { row throws(SQLiteError) in
      try row.text(0)
    }
  }

  @Test(arguments: jumps)
  func `A clock step does not delay the next attempt of a receipt`(jump: Int64) throws {
    let world = try Self.world()
    let start = world.now
    world.destinations.change(Self.app) { $0.weather = .down }
    Self.buy(world)
    // Fine first: a step forward makes the receipt due at once, and a further failure would wait longer.
    world.agenda.add(.weather(Self.app, .fine), at: start + 10 * Self.minute)
    world.agenda.add(.jump(jump), at: start + 10 * Self.minute)
    // The longest pause by then is ten minutes plus a fifth.
    try world.runRelay(until: start + 23 * Self.minute)
    #expect(try Self.states(world) == ["delivered"])
    #expect(world.memory.faults == [])
  }

  @Test(arguments: [hour, 365 * day])
  func `Receipts that become due together after a clock step keep to the rate`(jump: Int64) throws {
    let world = try Self.world()
    world.rate = 20
    let start = world.now
    world.destinations.change(Self.app) { $0.weather = .down }
    Self.buy(world, count: 300)
    world.agenda.add(.jump(jump), at: start + 20 * Self.minute)
    world.agenda.add(.weather(Self.app, .fine), at: start + 20 * Self.minute)
    try world.runRelay(until: start + 40 * Self.minute)
    let moments = Self.arrivals(world).map(\.atMonotonic)
    #expect(moments.count > 300)
    for (index, moment) in moments.enumerated() {
      let inSecond = moments[index...].prefix { $0 < moment + Self.second }.count
      #expect(inSecond <= 2 * 20, "\(inSecond) within a second")
    }
    #expect(try Self.states(world) == ["delivered"])
  }

  @Test(arguments: jumps)
  func `A rest that a 429 asked for has the requested length`(jump: Int64) throws {
    let world = try Self.world()
    let start = world.now
    world.destinations.change(Self.app) { $0.weather = .resting }
    Self.buy(world)
    world.agenda.add(.weather(Self.app, .fine), at: start + 10 * Self.minute)
    world.agenda.add(.jump(jump), at: start + 5 * Self.minute)
    try world.runRelay(until: start + 40 * Self.minute)
    let arrivals = Self.arrivals(world)
    try #require(arrivals.count >= 2)
    // The `Retry-After` of this seed's destination.
    #expect(arrivals[0].retryAfter == "900")
    let rested = arrivals[1].atMonotonic - arrivals[0].atMonotonic
    #expect(rested >= 900 * Self.second - 2 * Self.second, "\(rested) ms")
    // When the clock goes back, the receipt's pause begins again.
    let again = jump < -Self.second ? 5 * Self.minute : 0
    #expect(rested <= 900 * Self.second + again + 10 * Self.second, "\(rested) ms")
    #expect(try Self.states(world) == ["delivered"])
  }

  @Test(
    "An attempt that fails during a clock step stops its app no longer than any other", arguments: jumps)
  func failureAtTheJump(jump: Int64) throws {
    let world = try Self.world()
    let start = world.now
    // Ten attempts, each of which takes ten seconds to fail, open the breaker; the last ones end after the
    // clock step.
    world.destinations.change(Self.app) { $0.weather = .late }
    Self.buy(world, count: 12)
    world.agenda.add(.jump(jump), at: start + 2 * Self.minute + 5 * Self.second)
    world.agenda.add(.weather(Self.app, .fine), at: start + 10 * Self.minute)
    try world.runRelay(until: start + 55 * Self.minute)
    #expect(try Self.states(world) == ["delivered"])
  }

  @Test func `Time that the machine slept counts against no receipt`() throws {
    let world = try Self.world()
    world.lookInterval = Self.minute
    let start = world.now
    world.destinations.change(Self.app) { $0.weather = .refusing }
    Self.buy(world)
    world.agenda.add(.jump(8 * Self.day), at: start + Self.hour)
    world.agenda.add(.weather(Self.app, .fine), at: start + 3 * Self.hour)
    try world.runRelay(until: start + 10 * Self.hour)
    #expect(try Self.states(world) == ["delivered"])
  }

  @Test(arguments: jumps)
  func `A wait for a context ends once, and soon, whatever the clock does`(jump: Int64) throws {
    let world = try Self.world()
    let start = world.now
    Self.buy(world)
    world.agenda.add(.jump(jump), at: start + Self.minute)
    // The wait is two minutes, and begins again when the clock goes back.
    try world.runRelay(until: start + 4 * Self.minute)
    #expect(try Self.states(world) == ["delivered"])
    #expect(Self.arrivals(world).count == 1)
  }

  @Test func `After the clock was set far forward nothing is deleted for a day`() throws {
    let world = try Self.world()
    world.lookInterval = 5 * Self.minute
    let start = world.now
    Self.buy(world)
    world.agenda.add(.jump(365 * Self.day), at: start + Self.hour)
    world.agenda.add(.jump(-365 * Self.day), at: start + 20 * Self.hour)
    try world.runRelay(until: start + 2 * Self.day)
    #expect(try Self.states(world) == ["delivered"])
    #expect(world.memory.faults == [])
  }
}
