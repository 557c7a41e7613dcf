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
    let folder = unsafe template.withUnsafeMutableBufferPointer { buffer in
      unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) }.flatMap {
        unsafe String(validatingCString: $0)
      }
    }
    directory = try #require(folder)
    let made = try ShellRun([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "2",
      "-subj", "/CN=\(subject)", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out",
      certificate,
    ])
    #expect(made.code == 0, "\(made.output)")
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
    let ask = try ShellRun(["openssl", "req", "-new", "-key", key, "-subj", "/CN=expired", "-out", request])
    #expect(ask.code == 0, "\(ask.output)")
    let sign = try ShellRun([
      "openssl", "ca", "-batch", "-config", settings, "-selfsign", "-keyfile", key, "-in", request, "-notext",
      "-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-out", certificate,
    ])
    #expect(sign.code == 0, "\(sign.output)")
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
    _ = try? ShellRun(["rm", "-r", directory])
  }
}

/// `openssl s_server` on a free port of 127.0.0.1; `deinit` ends it. Without `-www` it prints what it
/// decrypts and sends its input.
final class TLSServer {
  let port: UInt16
  let process: PipedProcess

  init(_ certificate: SelfSignedCertificate, _ options: [String] = ["-www"]) throws {
    process = try PipedProcess(
      [
        "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate.certificate, "-key",
        certificate.key,
      ] + options, showsErrors: false)
    // "ACCEPT 127.0.0.1:40123", printed once it listens.
    var line = ""
    while !line.hasPrefix("ACCEPT ") { line = try #require(process.line()) }
    port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
  }

  func request(_ certificate: SelfSignedCertificate?) -> TransferRequest {
    TransferRequest(
      method: .get, url: "https://localhost:\(port)/", timeout: .seconds(8),
      certificateAuthorityFile: certificate?.certificate)
  }
}
