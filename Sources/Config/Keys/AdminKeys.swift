// The keys of `admin`. As ConfigurationReader: one thread, every fault.

internal import Formats
internal import Platform

extension Configuration.Admin {
  static let section = ConfigurationSection(
    Self(),
    rules: ["not": ["required": ["socket"], "anyOf": [["required": ["address"]], ["required": ["port"]]]]],
    [
      .key("address", \.address, .address, "The address to listen on."),
      .key("port", \.port, .port, "The port to listen on. With 0 the system chooses one."),
      .optional(
        "socket", \.socketPath, .file, example: "/run/receiptd/admin.sock",
        "The path of a Unix socket to listen on, instead of an address and a port. Everyone who may open the "
          + "file has access."),
      .optional(
        "password", \.password, .secret, example: "file:/etc/receiptd/secrets/admin_password",
        "The password for everything but /healthz and /readyz. It is required on an address that other "
          + "machines can reach."
      ).then { admin, reader, _ in admin.report(reader) },
    ])

  /// A shorter password causes a warning: anyone who reaches the listener can guess.
  private static let passwordBytesMin = 12

  private func report(_ reader: ObjectReader) {
    let isOnSocket = reader.has("socket")
    if isOnSocket, reader.has("address") || reader.has("port") {
      reader.collector.fault(
        reader.path(of: "socket"), "cannot be combined with an address or a port; keep one of them")
    }
    reportOpenDoor(reader, isOnSocket: isOnSocket)
    // An unreadable password is not checked here; the daemon reports it.
    if let length = (try? password?.reveal())?.utf8.count, length < Self.passwordBytesMin {
      reader.collector.warning(
        reader.path(of: "password"),
        "is short; take \(Self.passwordBytesMin) characters or more, such as from: openssl rand -base64 18")
    }
  }

  /// The dashboard shows who bought what and can send receipts again, so it must not be open to a whole
  /// network.
  private func reportOpenDoor(_ reader: ObjectReader, isOnSocket: Bool) {
    guard !isOnSocket, !reader.has("password"), let address = IPAddress(address), !address.isLoopback else {
      return
    }
    reader.collector.fault(
      reader.path(of: "password"),
      "is missing, and admin.address lets others than this machine in; set a password (\"env:NAME\" or "
        + "\"file:/path\"), listen on \"127.0.0.1\", or use admin.socket")
  }
}
