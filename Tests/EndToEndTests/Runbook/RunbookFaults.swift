// The situations of the runbook in which the machine is at fault: disk, database, connections. One thread.

import Domain
import Formats
import Glibc
import Store
import TestSupport
import Testing

extension RunbookScene {
  /// The database is lost with its disk after the first command, which makes a backup.
  static var restored: RunbookScene {
    RunbookScene(
      prepare: usual.prepare,
      before: [
        1: { relay, _ in
          try relay.stop(SIGKILL)
          for name in ["", "-wal", "-shm", ".lock", ".reserve"] {
            _ = unsafe unlink(relay.databasePath + name)
          }
        }
      ],
      missed: ["jdo-4"], beginsBefore: 1, check: { relay, _ in try wait(relay, .delivered, ["jdo-4"]) })
  }

  static var moved: RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        try usual.prepare(relay, destination)
        let away = relay.directory.file("backups") + "/receiptd.db.away"
        try #require(unsafe rename(relay.databasePath, away) == 0)
        try #require(try relay.admin.request("GET", "/readyz").status == 503)
      })
  }

  /// Pages that a start does not read: the check at the start finds them.
  static func damaged(withBackup: Bool) -> RunbookScene {
    RunbookScene(
      prepare: { relay, destination in
        try usual.prepare(relay, destination)
        if withBackup {
          let backup = relay.directory.file("backups") + "/receiptd.db"
          let words = relay.receiptctlCommand + ["db", "backup", backup]
          try #require(try ShellRun(words).code == 0)
        }
        try #require(try relay.stop() == 0)
        try #require(try DamagedPages.overwrite("events", in: relay.databasePath) > 0)
        try relay.start(untilReady: false)
        try waitUntil("the damage is found, and reported") {
          try relay.read { try $0.serviceReport(.health) }?.content.contains("database_damaged") == true
        }
      },
      check: { relay, _ in
        try buy(relay, ["jdo-4"])
        try wait(relay, .delivered, ["jdo-4"])
      })
  }

  /// The database is on a separate small disk, which is full until the second command. Only receiptd and
  /// its commands see that disk.
  static var fullDisk: RunbookScene {
    var disk: SmallDisk?
    func deliver(_ relay: Relay, _ users: [String]) throws {
      let disk = try #require(disk)
      let before = try disk.count(.delivered)
      try buy(relay, users)
      try waitUntil("it is delivered") { try disk.count(.delivered) == before + users.count }
    }
    var scene = RunbookScene(
      prepare: { relay, _ in
        try deliver(relay, users)
        disk?.fill()
        var number = 0
        try waitUntil("a request is refused") {
          number += 1
          return try relay.outside.postContext("full-\(number)", Checkout("x").context).status == 503
        }
        try waitUntil("it is not ready") { try relay.admin.request("GET", "/readyz").status == 503 }
      },
      before: [
        1: { relay, _ in
          disk?.clear()
          try relay.waitUntilReady()
        }
      ], check: { relay, _ in try deliver(relay, ["jdo-4"]) })
    scene.setUp = { relay, past in
      let made = SmallDisk(relay, copying: past)
      try made.mount()
      disk = made
    }
    scene.place = { relay in
      "nsenter --user --mount --preserve-credentials --target \(relay.process?.id ?? 0)"
    }
    return scene
  }

  /// Unfinished requests hold every connection, until there are more.
  static var noConnections: RunbookScene {
    var held: [Wire] = []
    func hold(_ count: Int, _ relay: Relay) throws {
      let half = Endpoint.bytes("POST", Stripe.eventsPath, body: nil, headers: ["Content-Length": "10"])
      for _ in 0..<count {
        let wire = try Wire(relay.outside.api.port)
        try wire.send(half)
        held.append(wire)
      }
    }
    return RunbookScene(
      prepare: { relay, destination in
        try usual.prepare(relay, destination)
        try waitUntil("the connections of the purchases are closed") {
          try relay.metric("receiptd_http_connections") == 0
        }
        // A connection that is not yet closed takes the place of one of these, which is refused.
        try waitUntil("none is free") {
          let free = 20 - Int(try relay.metric("receiptd_http_connections") ?? 20)
          try hold(free, relay)
          return free == 0
        }
        try waitUntil("receiptd reports it") {
          try relay.read { try $0.serviceReport(.health) }?.content.contains("no free connections") == true
        }
      },
      before: [
        1: { relay, _ in
          held = []
          relay.configuration = relay.configuration.merging(["limits": ["connections": 200]])
          try relay.writeConfiguration()
        },
        2: { relay, _ in try hold(20, relay) },
      ],
      // Without a reserve no unfinished request is cut for another one.
      top: ["limits": ["connections": 20, "webhook_connections": 0, "request_timeout": "5m"]],
      check: { relay, _ in
        let status = try relay.outside.api.request("GET", "/v1/shop/contexts/ctx_none").status
        #expect(status == 404)
        withExtendedLifetime(held) {}
      })
  }
}
