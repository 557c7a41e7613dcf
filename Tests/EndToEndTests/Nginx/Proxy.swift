// nginx from Debian, with the shipped site, in front of a receiptd under test. It listens on a Unix socket,
// so it needs no port. One thread.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// nginx with the site of deploy/nginx. Only its listener, receiptd's address and the certificate differ.
final class Proxy {
  static let names = ["pay.example.com", "back.pay.example.com"]
  /// Debian installs it outside of a user's PATH.
  static let program = "/usr/sbin/nginx"
  static var isPossible: Bool {
    FileManager.default.isExecutableFile(atPath: program) && ShellRun.isThere("curl") && SelfSigned.isPossible
  }

  private let directory: TestFolder
  private let certificate: SelfSigned
  private let process: ChildProcess
  private var socket: String { directory.file("tls.sock") }
  var accessLog: String { TextFile.read(directory.file("access.log")) }
  var errorLog: String { TextFile.read(directory.file("error.log")) }

  init(relayPort: UInt16) throws {
    directory = try TestFolder()
    certificate = try SelfSigned(in: directory, names: Self.names)
    let replacements = [
      ("listen 443 ssl http2;", "listen unix:\(directory.file("tls.sock")) ssl http2;"),
      ("  listen [::]:443 ssl http2;\n", ""), ("  listen [::]:80;\n", ""),
      ("listen 80;", "listen unix:\(directory.file("plain.sock"));"),
      ("server 127.0.0.1:8080;", "server 127.0.0.1:\(relayPort);"),
      ("/etc/letsencrypt/live/pay.example.com/fullchain.pem", certificate.certificate),
      ("/etc/letsencrypt/live/pay.example.com/privkey.pem", certificate.key),
      ("/var/log/nginx/receipt-relay.log", directory.file("access.log")),
      ("/var/log/nginx/receipt-relay.error.log", directory.file("error.log")),
    ]
    var site = TextFile.read(Program.repository + "/deploy/nginx/receipt-relay.conf")
    for (written, meant) in replacements {
      try #require(site.ranges(of: written).count == 1, "\(written) stands once in the site")
      site = site.replacing(written, with: meant)
    }
    try directory.write(site, to: "site.conf")
    try directory.write(Self.main(directory, isRoot: geteuid() == 0), to: "nginx.conf")
    let words = [Self.program, "-e", directory.file("error.log"), "-c", directory.file("nginx.conf")]
    process = try ChildProcess(words, output: directory.file("error.log"))
    let (process, directory) = (process, directory)
    try waitUntil("nginx listens") {
      if let code = process.exitCode {
        throw NeverHappened(what: "nginx ended with \(code): \(TextFile.read(directory.file("error.log")))")
      }
      return FileManager.default.fileExists(atPath: directory.file("tls.sock"))
    }
  }

  /// Ends it with its workers, which would survive a killed master.
  deinit {
    process.send(SIGTERM)
    // A process that does not end in time is killed by deinit.
    _ = try? process.end()
  }

  private static func main(_ directory: TestFolder, isRoot: Bool) -> String {
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "  \($0)_temp_path \(directory.file($0));\n"
    }
    return """
      daemon off;
      \(isRoot ? "user root;" : "")
      worker_processes 1;
      pid \(directory.file("nginx.pid"));
      events {}
      http {
      \(folders.joined())  include \(directory.file("site.conf"));
      }
      """
  }

  /// One request by curl, which checks the certificate and the name, follows no redirect, and changes no
  /// target.
  func ask(
    _ target: String, host: String = "pay.example.com", options: [String] = []
  ) throws -> Reply {
    let words =
      [
        "curl", "-sS", "-i", "--path-as-is", "--globoff", "--max-time", "40", "--unix-socket", socket,
        "--cacert",
        certificate.certificate,
      ] + options + ["https://\(host)\(target)"]
    let run = try ShellRun(words)
    try #require(run.code == 0, "\(run.output)\n\(errorLog)")
    return try Reply(curl: run.output)
  }
}

extension Reply {
  /// The output of `curl -i`.
  init(curl output: String) throws {
    let parts = output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let lines = parts[0].split(separator: "\r\n").map(String.init)
    let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    self.init(
      status: try #require(status, "\(output)"), headers: Array(lines.dropFirst()),
      body: Array((parts.count > 1 ? parts[1] : "").utf8))
  }
}
