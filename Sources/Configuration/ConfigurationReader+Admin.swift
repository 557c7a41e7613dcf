// Reads the address of the admin listener and its access rules. One thread.

internal import Platform

extension ConfigurationReader {
  /// A shorter password causes a warning: anyone who reaches the listener can guess.
  private static let passwordBytesMin = 12

  func admin(_ reader: ObjectReader) -> Configuration.Admin {
    let defaults = Configuration.Admin()
    defer { reader.reportUnknownKeys() }
    let admin = Configuration.Admin(
      address: address(reader, default: defaults.address), port: port(reader, default: defaults.port),
      socketPath: filePath(reader.value("socket"), path: reader.path(of: "socket"), in: reader),
      password: secrets.secret(reader.value("password"), path: reader.path(of: "password")))
    let isOnSocket = reader.names.contains("socket")
    if isOnSocket, reader.names.contains("address") || reader.names.contains("port") {
      collector.fault(
        reader.path(of: "socket"),
        "cannot be combined with an address or a port; keep one of them")
    }
    reportOpenDoor(admin, reader, isOnSocket: isOnSocket)
    // An unreadable password is not checked here; the daemon reports it.
    if let length = (try? admin.password?.reveal())?.utf8.count, length < Self.passwordBytesMin {
      collector.warning(
        reader.path(of: "password"),
        "is short; take \(Self.passwordBytesMin) characters or more, such as from: openssl rand -base64 18")
    }
    return admin
  }

  /// The dashboard shows who bought what and can send receipts again, so it must not be open to a whole
  /// network.
  private func reportOpenDoor(
    _ admin: Configuration.Admin, _ reader: ObjectReader, isOnSocket: Bool
  ) {
    guard !isOnSocket, !reader.names.contains("password"), let address = IPAddress(admin.address),
      !address.isLoopback
    else { return }
    collector.fault(
      reader.path(of: "password"),
      "is missing, and admin.address lets others than this machine in; set a password (\"env:NAME\" or "
        + "\"file:/path\"), listen on \"127.0.0.1\", or use admin.socket")
  }
}
