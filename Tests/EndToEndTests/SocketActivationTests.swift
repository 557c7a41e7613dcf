// A socket that the service manager holds (sd_listen_fds(3)): while receiptd restarts, no connection is
// refused.

import Domain
import Formats
import Glibc
import HTTPServer
import Platform
import Store
import TestSupport
import Testing

/// A listening socket like systemd's, on a free port of 127.0.0.1. Owns it.
private final class ManagerSocket {
  let port: UInt16
  let descriptor: Int32

  init() throws {
    let reserved = try ReservedPort(listens: true)
    port = reserved.number
    descriptor = reserved.release()
  }

  deinit { close(descriptor) }

  /// The `listen` or `admin` section of a configuration for this socket.
  var section: JSONValue { ["address": "127.0.0.1", "port": .integer(Int64(port))] }
}

@Suite("Socket activation", .withDaemonLog) struct SocketActivationTests {
  @Test func `A connection that is made while no receiptd runs is served by the next one (R1)`() throws {
    let socket = try ManagerSocket()
    try withRelay(top: ["listen": socket.section]) {
      $0.sockets = [socket.descriptor]
    } _: { relay, _ in
      #expect(relay.outside.api.port == socket.port)
      #expect(try relay.outside.send(Checkout("before").completed).status == 200)
      #expect(try relay.stop() == 0)
      let waiting = try Wire(socket.port)
      let body = Checkout("meanwhile").completed.serialized()
      let headers = ["Stripe-Signature": try Stripe.signature(of: body, secret: Secrets.webhook)]
      try waiting.send(Endpoint.bytes("POST", Stripe.eventsPath, body: body, headers: headers))
      try relay.start()
      #expect(try waiting.reply().status == 200)
      #expect(try relay.events().count == 2)
    }
  }

  @Test("No connection is refused during restarts, and nothing that was answered 2xx is lost (R1)")
  func restartsUnderLoad() throws {
    let socket = try ManagerSocket()
    try withRelay(top: ["listen": socket.section]) {
      $0.sockets = [socket.descriptor]
    } _: { relay, _ in
      let (outside, port) = (relay.outside, socket.port)
      let isOver = Monitor(false)
      let tally = Monitor((refused: 0, stored: [EventID]()))
      let client = try WorkerThread(name: "client") {
        var number = 0
        while !isOver.withLock({ $0 }) {
          number += 1
          let event = Checkout("under-way-\(number)").completed
          let status = try? outside.send(event).status
          let isRefused = (try? Wire(port)) == nil
          tally.update {
            if status == 200, let id = event["id"]?.stringValue { $0.stored.append(EventID(id)) }
            if isRefused { $0.refused += 1 }
          }
        }
      }
      for round in 1...3 {
        try waitUntil("events of round \(round)") { tally.withLock { $0.stored.count } >= round * 5 }
        #expect(try relay.stop() == 0)
        try relay.start()
      }
      isOver.update { $0 = true }
      client.join()
      let counted = tally.withLock { $0 }
      #expect(counted.refused == 0)
      #expect(Set(counted.stored).isSubset(of: try relay.events().map(\.id)))
    }
  }

  @Test func `The admin listener may have a socket, too`() throws {
    let (open, admin) = (try ManagerSocket(), try ManagerSocket())
    try withRelay(top: ["listen": open.section, "admin": admin.section]) {
      // The order does not matter: each has the address of its listener.
      $0.sockets = [admin.descriptor, open.descriptor]
    } _: { relay, _ in
      #expect(relay.admin.port == admin.port)
      #expect(relay.outside.api.port == open.port)
      let answer = try relay.outside.send(Checkout("both").completed)
      #expect(answer.status == 200)
    }
  }

  @Test func `A socket with the address of no listener is a fault of the configuration`() throws {
    let socket = try ManagerSocket()
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    relay.sockets = [socket.descriptor]
    let process = try relay.launch()
    #expect(try process.end() == 78)
    #expect(relay.log.contains("listens on 127.0.0.1:\(socket.port), which is neither"))
  }

  @Test func `A descriptor that does not listen is refused`() throws {
    let reserved = try ReservedPort()
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    let descriptor = reserved.release()
    defer { close(descriptor) }
    relay.sockets = [descriptor]
    let process = try relay.launch()
    #expect(try process.end() == 78)
    #expect(relay.log.contains("is not a listening stream socket"))
  }
}
