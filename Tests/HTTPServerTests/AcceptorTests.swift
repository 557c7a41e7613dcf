// Accepting connections, and a stop meanwhile. LimitTests and ReserveTests test the limits of connections.

import FoundationEssentials
import Glibc
import HTTPServer
import Platform
import Testing

@Suite("The acceptor") struct AcceptorTests {
  /// The race needs thousands of stops to occur; its cause is visible in every run.
  @Test func `The listening socket is in no epoll set of libmicrohttpd`() throws {
    let server = try TestApplication.echo().serve { $0.threads = 4 }
    let client = try TestClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.response().status == 200)
    let listener = try #require(try Self.inodeOfListener(server.port))
    let watched = try Self.inodesInEpollSets()
    #expect(!watched.isEmpty, "libmicrohttpd's own sets are there to be looked at")
    #expect(!watched.contains(listener))
  }

  @Test func `A stop under load does not abort the process`() throws {
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
      let end = MonotonicInstant.now().advanced(by: .seconds(300))
      #expect(served.wait(until: end) { $0 >= 50 ? true : nil } == true)
      server.stop(grace: .seconds(1))
      clients.forEach { $0.join() }
    }
  }

  /// The inode of the socket of this process that listens on a port (getsockname(2), SO_ACCEPTCONN of
  /// socket(7)). The descriptors are looked at one by one: the table in /proc/net/tcp may leave out a socket
  /// while others are opened and closed.
  private static func inodeOfListener(_ port: UInt16) throws -> UInt64? {
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let descriptor = Int32(name), isListening(descriptor, on: port) else { continue }
      var status = stat()
      if unsafe fstat(descriptor, &status) == 0 { return UInt64(status.st_ino) }
    }
    return nil
  }

  private static func isListening(_ descriptor: Int32, on port: UInt16) -> Bool {
    var flag: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &flag, &size) == 0, flag != 0 else {
      return false
    }
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let code = unsafe withUnsafeMutableBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe getsockname(descriptor, $0.baseAddress, &length)
      }
    }
    // sin_port and sin6_port have the same offset.
    return code == 0 && UInt16(bigEndian: address.sin6_port) == port
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
