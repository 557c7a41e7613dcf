// How association files are served: prepared once when the configuration is read, without a key, without a
// redirect, for devices and the caches in front of them. Pure; any thread.

internal import AppLinks
public import Configuration
internal import Cryptography
public import HTTPServer
internal import Platform
internal import Platform

/// One file, ready to be sent.
public struct AssociationFileAnswer: Sendable {
  private let body: [UInt8]
  /// A strong one (RFC 9110 §8.8.3), of the content: it is the same after every start.
  private let entityTag: String

  init(_ body: [UInt8]) {
    self.body = body
    entityTag = "\"\(Hex.encode(SHA256.digest(body)).prefix(32))\""
  }

  /// The file, or that the asker has it already (RFC 9110 §13.1.2).
  func response(to head: RequestHead) -> Response {
    let isKnown = head.headers("If-None-Match").contains(where: isNamed)
    var response =
      isKnown
      ? Response(status: 304) : Response(status: 200, type: "application/json", body: body)
    response.headers += [
      ("ETag", entityTag),
      // Apple's and Google's caches look rarely enough; a change should not wait for one in between.
      ("Cache-Control", "public, max-age=3600"), ("X-Content-Type-Options", "nosniff"),
    ]
    return response
  }

  /// Whether a field names this file: `*`, or a list of tags, which are compared weakly.
  private func isNamed(_ field: String) -> Bool {
    field.split(separator: ",").contains { item in
      let tag = item.filter { $0 != " " && $0 != "\t" }
      return tag == "*" || tag == entityTag || tag == "W/\(entityTag)"
    }
  }
}

/// Both files of every host.
public struct AssociationBoard: Sendable {
  private var answers: [String: [AssociationFileKind: AssociationFileAnswer]] = [:]

  /// - Throws: `Fault` when a file is too large, which the check of the configuration has found before.
  public init(_ configuration: Configuration) throws(Fault) {
    for files in AssociationFiles.all(of: configuration.apps) {
      do throws(AssociationFault) {
        answers[files.host] = [
          .apple: AssociationFileAnswer(try files.apple.serialized()),
          .android: AssociationFileAnswer(try files.android.serialized()),
        ]
      } catch {
        throw Fault(path: "apps", message: "the file of \(files.host) \(error.description)")
      }
    }
  }

  /// - Returns: nil for a host that no app has as its origin. Nothing else is decided by a Host field.
  public func answer(to head: RequestHead, _ kind: AssociationFileKind) -> Response? {
    let fields = head.headers("Host")
    guard fields.count == 1, var host = WebOrigin.host(of: fields[0]) else { return nil }
    if host.last == "." { host.removeLast() }
    return answers[host]?[kind]?.response(to: head)
  }
}

/// The files of the configuration in force. A reload swaps all of them at once. Any thread.
public final class AssociationRegistry: Sendable {
  private let board: Monitor<AssociationBoard>

  public init(_ board: AssociationBoard) { self.board = Monitor(board) }

  public var current: AssociationBoard { board.withLock { $0 } }

  public func replace(with new: AssociationBoard) { board.withLock { $0 = new } }
}
