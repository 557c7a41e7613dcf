// The files by which Apple and Google verify that a host belongs to an app, prepared once for each
// configuration. They need no key and no redirect. Pure; called from any thread.

public import Config
internal import Formats
public import HTTPServer
internal import Platform
public import Service

/// The files of all hosts.
public struct AssociationFileSet: Sendable {
  private var answers: [String: [AssociationFileKind: StaticFile]] = [:]

  /// - Throws: `Fault` if a file is too large. The check of the configuration reports this earlier.
  public init(_ configuration: Configuration) throws(Fault) {
    for files in AssociationFiles.all(of: configuration.apps) {
      do throws(AssociationFault) {
        answers[files.host] = [
          .apple: StaticFile(try files.apple.serialized()),
          .android: StaticFile(try files.android.serialized()),
        ]
        // Apple names no type; a text that is not JSON, at some processors.
        answers[files.host]?[.applePay] = files.applePay.map { StaticFile($0, type: "text/plain") }
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

// MARK: - AssociationFileKind

// The files of a host that associate it with others. Pure; called from any thread.

/// The files that associate a host with its apps, or with a merchant.
public enum AssociationFileKind: Sendable, Equatable {
  /// apple-app-site-association.
  case apple
  /// assetlinks.json.
  case android
  /// apple-developer-merchantid-domain-association.
  case applePay
}
