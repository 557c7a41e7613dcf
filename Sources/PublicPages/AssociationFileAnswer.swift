// Serves files to devices and caches: association files, and logos. Association files are prepared once per
// configuration. They need no key and no redirect. Pure; called from any thread.

internal import AppLinks
public import Configuration
internal import Cryptography
public import HTTPServer
public import HTTPService
internal import Platform

/// One prepared file.
public struct AssociationFileAnswer: Sendable {
  private let body: [UInt8]
  private let type: String
  /// A strong entity tag (RFC 9110 §8.8.3), derived from the content, so it is the same after a restart.
  private let entityTag: String

  init(_ body: [UInt8], type: String = "application/json") {
    self.body = body
    self.type = type
    entityTag = "\"\(Hex.encode(SHA256.digest(body)).prefix(32))\""
  }

  /// The file, or 304 if the client has it already (RFC 9110 §13.1.2).
  func response(to head: RequestHead) -> Response {
    let isKnown = head.headers("If-None-Match").contains(where: isNamed)
    var response =
      isKnown
      ? Response(status: 304) : Response(status: 200, type: type, body: body)
    response.headers += [
      ("ETag", entityTag),
      // Apple's and Google's caches fetch rarely; a longer lifetime would delay changes further.
      ("Cache-Control", "public, max-age=3600"), ("X-Content-Type-Options", "nosniff"),
    ]
    return response
  }

  /// Whether a field matches this file: `*`, or a list of tags, compared weakly.
  private func isNamed(_ field: String) -> Bool {
    field.split(separator: ",").contains { item in
      let tag = item.filter { $0 != " " && $0 != "\t" }
      return tag == "*" || tag == entityTag || tag == "W/\(entityTag)"
    }
  }
}

/// The files of all hosts.
public struct AssociationFileSet: Sendable {
  private var answers: [String: [AssociationFileKind: AssociationFileAnswer]] = [:]

  /// - Throws: `Fault` if a file is too large. The check of the configuration reports this earlier.
  public init(_ configuration: Configuration) throws(Fault) {
    for files in AssociationFiles.all(of: configuration.apps) {
      do throws(AssociationFault) {
        answers[files.host] = [
          .apple: AssociationFileAnswer(try files.apple.serialized()),
          .android: AssociationFileAnswer(try files.android.serialized()),
        ]
        // Apple names no type; a text that is not JSON, at some processors.
        answers[files.host]?[.applePay] = files.applePay.map { AssociationFileAnswer($0, type: "text/plain") }
      } catch {
        throw Fault(path: "apps", message: "the file of \(files.host) \(error.description)")
      }
    }
  }

  /// Selects the file by the Host field, which decides nothing else.
  /// - Throws: a problem for a host that is not the origin of an app, or that has no such file.
  public func answer(to head: RequestHead, _ kind: AssociationFileKind) throws(Problem) -> Response {
    let fields = head.headers("Host")
    guard fields.count == 1, var host = WebOrigin.host(of: fields[0]) else { throw .unknownHost }
    if host.last == "." { host.removeLast() }
    guard let files = answers[host] else { throw .unknownHost }
    guard let file = files[kind] else { throw .notFound }
    return file.response(to: head)
  }
}

/// The files of the current configuration. A reload replaces all of them at once. Thread-safe.
public final class AssociationRegistry: Sendable {
  private let files: Monitor<AssociationFileSet>

  public init(_ files: AssociationFileSet) { self.files = Monitor(files) }

  public var current: AssociationFileSet { files.withLock { $0 } }

  public func replace(with new: AssociationFileSet) { files.withLock { $0 = new } }
}
