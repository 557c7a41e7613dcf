// Sockets from the service manager (sd_listen_fds(3)). receiptd's own use of them is in
// SocketActivationTests.

import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite("Inherited sockets") struct InheritedSocketTests {
  @Test func `They are found only with this process's id, and from the first descriptor on`() throws {
    let reserved = try ReservedPort(listens: true)
    let port = reserved.number
    let descriptor = reserved.release()
    defer { close(descriptor) }
    func found(_ values: [String: String]) throws(InheritedSocket.Unusable) -> [InheritedSocket] {
      try InheritedSocket.all(environment: Environment(values), first: descriptor)
    }
    #expect(try found([:]).isEmpty)
    #expect(try found(["LISTEN_FDS": "1"]).isEmpty)
    #expect(try found(["LISTEN_FDS": "1", "LISTEN_PID": "\(getpid() + 1)"]).isEmpty)
    #expect(try found(["LISTEN_FDS": "0", "LISTEN_PID": "\(getpid())"]).isEmpty)
    #expect(try found(["LISTEN_FDS": "x", "LISTEN_PID": "\(getpid())"]).isEmpty)
    #expect(throws: InheritedSocket.Unusable.self) {
      try found(["LISTEN_FDS": "65", "LISTEN_PID": "\(getpid())"])
    }
    let socket = try #require(try found(["LISTEN_FDS": "1", "LISTEN_PID": "\(getpid())"]).first)
    #expect(socket.descriptor == descriptor)
    let local = try #require(IPAddress("127.0.0.1"))
    #expect(socket.place == .address(local, port: port))
    #expect(socket.place.description == "127.0.0.1:\(port)")
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
  }

  @Test func `IPv6 addresses and paths are places, too`() throws {
    let six = try #require(IPAddress("2001:DB8:0::1"))
    #expect(InheritedSocket.Place.address(six, port: 443).description == "[2001:db8::1]:443")
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let code = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe bind(descriptor, $0.baseAddress, socklen_t(bytes.count))
      }
    }
    try #require(code == 0)
    #expect(throws: InheritedSocket.Unusable.self) { try InheritedSocket(descriptor) }
    try #require(listen(descriptor, 1) == 0)
    #expect(try InheritedSocket(descriptor).place == .file(path))
  }
}
