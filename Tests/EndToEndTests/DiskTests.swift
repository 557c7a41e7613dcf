// Real disk failures: a full file system, and one that cannot sync.

import Domain
import Formats
import Glibc
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DiskTests {
  @Test(.enabled(if: Tool.hasNamespaces, "needs name spaces for users and mounts"))
  func `On a full disk requests get 503 and deliveries continue; space ends it (R1, R4, R8)`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let disk = SmallDisk(try Relay(destination, app: ["join": ["wait_for_context": "0s"]]))
    try disk.mount()
    try Relay.$logPath.withValue(disk.relay.logPath) {
      let relay = disk.relay
      try relay.start()
      destination.answerAll(.status(503))
      let early = (0..<40).map { Checkout("early-\($0)") }
      for checkout in early { try relay.ingest(checkout.completed) }
      disk.fill()
      // Space that the log already occupies accepts a few more.
      var taken = early
      let refused = try waitFor("a request is refused") { () -> Reply? in
        let checkout = Checkout("late-\(taken.count)")
        let reply = try relay.outside.send(checkout.completed)
        if reply.status == 200 { taken.append(checkout) }
        return reply.status == 200 ? nil : reply
      }
      #expect(refused.status == 503, "\(refused.text)")
      #expect(refused.header("Retry-After") != nil, "\(refused.text)")
      destination.answerAll(.taken)
      try waitUntil("everything is delivered on a full disk") {
        try disk.count(.delivered) == taken.count && disk.count(.pending) == 0
      }
      let reply = try relay.outside.postContext("u", early[0].context)
      #expect(reply.status == 503, "\(reply.text)")
      #expect(reply["type"] == "urn:receiptd:problem:disk-full", "\(reply.text)")
      #expect(reply.header("Retry-After") == "60")
      #expect(try relay.admin.request("GET", "/readyz").text.contains("the disk is full"))
      disk.clear()
      try waitUntil("it takes requests again") {
        try relay.outside.postContext("u", early[0].context).status < 300
      }
      try relay.waitUntilReady()
      let later = Checkout("later")
      try relay.ingest(later.completed)
      try waitUntil("it delivers on") { try disk.count(.delivered) == taken.count + 1 }
      let delivered = Set(destination.ledger.compactMap(\.objectID))
      #expect(delivered == Set((taken + [later]).map(\.subscription)))
      #expect(try relay.stop() == 0)
    }
  }

  @Test(
    "A sync that fails ends the process with 74 before anything is acknowledged, and a start recovers (R1)",
    .enabled(if: Tool.hasTracing, "needs strace"))
  func failedSync() throws {
    try withRelay { relay, destination in
      let before = Checkout("before")
      try relay.ingest(before.completed)
      let process = try #require(relay.process)
      let output = relay.directory.file("strace.log")
      let tracer = try ChildProcess(
        [
          "strace", "--attach=\(process.id)", "--follow-forks", "--trace=fsync,fdatasync",
          "--inject=fsync,fdatasync:error=EIO",
        ], output: output)
      try waitUntil("strace holds every thread") {
        TextFile.read(output).split(separator: "\n").filter { $0.contains(" attached") }.count >= 1
          && process.status("TracerPid") == Int(tracer.id)
      }
      let lost = Checkout("lost")
      // The answer is 503, or the process has ended before it.
      let reply = try? relay.outside.send(lost.completed)
      #expect(reply == nil || reply?.status == 503)
      #expect(try process.end() == 74)
      #expect(relay.log.contains("could not be made durable"))
      try relay.start()
      try relay.ingest(lost.completed)
      for checkout in [before, lost] { try relay.reaches(.delivered, checkout.subscription) }
      #expect(try relay.read { try $0.integrityFaults() }.isEmpty)
    }
  }
}
