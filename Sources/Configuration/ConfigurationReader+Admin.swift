// Reads where the admin listener listens and who comes in. One thread.

internal import Platform

extension ConfigurationReader {
  /// A shorter password is worth a remark: whoever reaches the listener may try.
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
    // One that cannot be read here is the daemon's to judge.
    if let length = (try? admin.password?.reveal())?.utf8.count, length < Self.passwordBytesMin {
      collector.warning(
        reader.path(of: "password"),
        "is short; take \(Self.passwordBytesMin) characters or more, such as from: openssl rand -base64 18")
    }
    return admin
  }

  /// The dashboard shows who bought what, and sends receipts again: not to everyone on a network.
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
