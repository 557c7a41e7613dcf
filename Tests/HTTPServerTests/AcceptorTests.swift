// Accepting connections, and a stop meanwhile. LimitTests and ReserveTests test the limits of connections.

import FoundationEssentials
import HTTPServer
import Platform
import Testing

@Suite("The acceptor") struct AcceptorTests {
  /// The race needs thousands of stops to occur; its cause is visible in every run.
  @Test("The listening socket is in no epoll set of libmicrohttpd")
  func listener() throws {
    let server = try TestApplication.echo().serve { $0.threads = 4 }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response().status == 200)
    // The kernel may leave a socket out of the table while other tests open and close theirs.
    let end = MonotonicInstant.now().advanced(by: .seconds(20))
    var found = try Self.inodeOfListener(server.port)
    while found == nil, MonotonicInstant.now() < end { found = try Self.inodeOfListener(server.port) }
    let listener = try #require(found)
    let watched = try Self.inodesInEpollSets()
    #expect(!watched.isEmpty, "libmicrohttpd's own sets are there to be looked at")
    #expect(!watched.contains(listener))
    server.stop(grace: .seconds(1))
  }

  @Test("A stop under load does not abort the process")
  func stopWhileServing() throws {
    for _ in 1...200 {
      let served = Monitor(0)
      let application = TestApplication { request, responder in
        responder.respond(TestApplication.echo(request))
        served.update { $0 += 1 }
      }
      let server = try application.serve { $0.threads = 4 }
      let clients = try (1...4).map { _ in
        try WorkerThread(name: "client") {
          // Until the stop closes the connection.
          while let client = try? TestClient(server) {
            for _ in 1...20 {
              guard (try? client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) != nil,
                let reply = try? client.response(), !reply.closes
              else { break }
            }
          }
        }
      }
      let end = MonotonicInstant.now().advanced(by: .seconds(30))
      #expect(served.wait(until: end) { $0 >= 50 ? true : nil } == true)
      server.stop(grace: .seconds(1))
      clients.forEach { $0.join() }
    }
  }

  /// The inode of the socket that listens on a port (proc_pid_net(5)).
  private static func inodeOfListener(_ port: UInt16) throws -> UInt64? {
    for line in try String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8).split(separator: "\n") {
      let fields = line.split(separator: " ")
      // The local address, the state (0A: listening), and the inode.
      guard fields.count > 9, fields[3] == "0A", let number = fields[1].split(separator: ":").last,
        UInt16(number, radix: 16) == port
      else { continue }
      return UInt64(fields[9])
    }
    return nil
  }

  /// The inodes in the epoll sets of this process (proc_pid_fdinfo(5)).
  private static func inodesInEpollSets() throws -> Set<UInt64> {
    var inodes: Set<UInt64> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo") {
      // Other tests close descriptors concurrently.
      let info = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
      for line in info.split(separator: "\n") where line.hasPrefix("tfd:") {
        let inode = line.split(separator: " ").first { $0.hasPrefix("ino:") }
        if let inode, let number = UInt64(inode.dropFirst(4), radix: 16) { inodes.insert(number) }
      }
    }
    return inodes
  }
}
