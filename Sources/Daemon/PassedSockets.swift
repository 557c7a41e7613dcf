// Which of the sockets that the service manager passed on belongs to which listener. Pure.

internal import Config
internal import Domain
internal import Platform

/// The passed sockets of the two listeners; nil where none was passed.
struct PassedSockets {
  var `public`: InheritedSocket?
  var admin: InheritedSocket?

  /// Assigns each socket to the listener whose address it has, so the configuration stays the one place that
  /// says which listener is where.
  /// - Throws: if a socket has the address of neither listener.
  init(_ sockets: [InheritedSocket], _ configuration: Configuration) throws(DaemonError) {
    let listen = Self.place(configuration.listen.address, configuration.listen.port)
    let admin =
      configuration.admin.socketPath.map { .file($0) }
      ?? Self.place(configuration.admin.address, configuration.admin.port)
    for socket in sockets {
      if socket.place == listen {
        self.public = socket
      } else if socket.place == admin {
        self.admin = socket
      } else {
        throw .configuration(
          Fault(
            path: "listen",
            message: "the service manager passed a socket that listens on \(socket.place), which is neither "
              + "the address and port of listen nor that of admin; write the same into the socket unit "
              + "(ListenStream=) and into the configuration"))
      }
    }
  }

  private static func place(_ address: String, _ port: UInt16) -> InheritedSocket.Place? {
    IPAddress(address).map { .address($0, port: port) }
  }
}
