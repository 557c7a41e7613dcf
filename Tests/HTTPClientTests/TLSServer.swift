// An independent TLS server: `openssl s_server` as a child process, with certificates made for one test.

import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing

/// A self-signed certificate and its key, in a separate directory that `deinit` removes.
final class SelfSignedCertificate {
  let directory: String
  var certificate: String { directory + "/certificate.pem" }
  var key: String { directory + "/key.pem" }

  /// - Parameter name: in the format of openssl-x509v3_config(5): "DNS:localhost", "IP:127.0.0.1".
  /// - Parameter isExpired: whether it expired in 2020.
  init(for name: String, subject: String = "receipt-relay-test", isExpired: Bool = false) throws {
    var template = Array("/tmp/receipt-relay-tls-XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.flatMap {
        unsafe String(validatingCString: $0)
      }
    }
    directory = try #require(made)
    let process = try ChildProcess([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "2",
      "-subj", "/CN=\(subject)", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out",
      certificate,
    ])
    #expect(process.wait() == 0)
    if isExpired { try expire(name) }
  }

  /// Signs the certificate again, for two days in 2020: only `openssl ca` accepts dates.
  private func expire(_ name: String) throws {
    let (settings, request) = (directory + "/settings", directory + "/request.pem")
    try write("", to: directory + "/index")
    try write(
      """
      [ca]
      default_ca = own
      [own]
      database = \(directory)/index
      new_certs_dir = \(directory)
      default_md = sha256
      policy = any
      rand_serial = yes
      x509_extensions = names
      [any]
      commonName = supplied
      [names]
      subjectAltName = \(name)
      basicConstraints = critical, CA:true
      """, to: settings)
    let ask = try ChildProcess(
      ["openssl", "req", "-new", "-key", key, "-subj", "/CN=expired", "-out", request])
    #expect(ask.wait() == 0)
    let sign = try ChildProcess([
      "openssl", "ca", "-batch", "-config", settings, "-selfsign", "-keyfile", key, "-in", request, "-notext",
      "-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-out", certificate,
    ])
    #expect(sign.wait() == 0)
  }

  private func write(_ text: String, to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw SystemError.last("open") }
    defer { close(file) }
    let bytes = Array(text.utf8)
    #expect(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
  }

  deinit {
    // Files left in /tmp must not fail a test.
    _ = try? ChildProcess(["rm", "-r", directory]).wait()
  }
}

/// `openssl s_server` on a free port of 127.0.0.1; `deinit` ends it. Without `-www` it prints what it
/// decrypts and sends its input.
final class TLSServer {
  let port: UInt16
  let process: ChildProcess

  init(_ certificate: SelfSignedCertificate, _ options: [String] = ["-www"]) throws {
    process = try ChildProcess(
      [
        "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate.certificate, "-key",
        certificate.key,
      ] + options)
    // "ACCEPT 127.0.0.1:40123", printed once it listens.
    let line = try #require(process.readOutput(until: "\n", after: "ACCEPT "))
    port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
  }

  func request(_ certificate: SelfSignedCertificate?) -> TransferRequest {
    TransferRequest(
      method: .get, url: "https://localhost:\(port)/", timeoutMilliseconds: 8_000,
      certificateAuthorityFile: certificate?.certificate)
  }
}

/// A child process with pipes to its input and output. Owns the pipes and the process; `deinit` kills and
/// reaps it.
final class ChildProcess {
  private let identifier: pid_t
  private let input: Int32
  private let output: Int32
  private var read: [UInt8] = []
  private var isReaped = false

  init(_ arguments: [String]) throws {
    let (inward, outward) = (try Spawn.pipe(), try Spawn.pipe())
    defer {
      close(inward.reading)
      close(outward.writing)
    }
    (input, output) = (inward.writing, outward.reading)
    identifier = try Spawn.start(
      arguments, files: [(0, .same(inward.reading)), (1, .same(outward.writing)), (2, .nowhere)])
  }

  deinit {
    close(input)
    close(output)
    if !isReaped { Spawn.kill(identifier) }
  }

  /// Waits for the end: the exit code, or 128 plus the signal that ended it.
  @discardableResult func wait() -> Int32 {
    isReaped = true
    return Spawn.wait(for: identifier)
  }

  func feed(_ bytes: [UInt8]) {
    #expect(unsafe write(input, bytes, bytes.count) == bytes.count)
  }

  /// The output between two marks; waits for at most ten seconds.
  func readOutput(until end: String, after start: String) -> String? {
    let deadline = MonotonicInstant.now().advanced(byMilliseconds: 10_000)
    while true {
      let text = String(decoding: read, as: UTF8.self)
      if let from = text.firstRange(of: start)?.upperBound,
        let to = text[from...].firstRange(of: end)?.lowerBound
      {
        return String(text[from..<to])
      }
      let left = deadline.milliseconds(since: .now())
      guard left > 0, readSome(withinMilliseconds: Int32(clamping: left)) else { return nil }
    }
  }

  /// Whether more output arrived.
  func readSome(withinMilliseconds milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, milliseconds) > 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe Glibc.read(output, &buffer, buffer.count)
    guard count > 0 else { return false }
    read += buffer.prefix(count)
    return true
  }

  /// All output so far.
  var printed: String { String(decoding: read, as: UTF8.self) }
}
