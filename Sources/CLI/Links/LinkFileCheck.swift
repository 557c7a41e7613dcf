// Checks one association file on disk, from any source.

internal import Domain
internal import Formats
internal import Platform
internal import Terminal

/// Checks a file and evaluates a URL with it.
struct LinkFileCheck {
  /// A limit on stderr; a file may have a fault every few bytes.
  private static let findingsShownMax = 50

  private let session: Session
  private let path: String
  private let app: AppSlug?

  /// - Parameter path: `-` for stdin.
  init(_ session: Session, path: String, app: AppSlug?) {
    self.session = session
    self.path = path
    self.app = app
  }

  /// - Returns: `badData` when the file has a fault.
  func run(_ url: LinkURL?) throws -> ExitCode {
    let bytes = try content()
    let isAndroid = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
    var apple = AppSiteAssociation()
    var android = AssetLinks([])
    var findings: [LinkFinding] = []
    do throws(AssociationFault) {
      if isAndroid {
        (android, findings) = try AssetLinks.read(bytes)
      } else {
        (apple, findings) = try AppSiteAssociation.read(bytes)
        findings += AssociationMatcher(apple).findings
      }
    } catch {
      throw OperatorFault(.badData, "\(shownPath) \(DisplayText.clean(error.description))")
    }
    let isFaulty = findings.contains { $0.severity == .fault }
    for finding in findings.prefix(Self.findingsShownMax) {
      session.output.note("\(finding.severity.rawValue): \(DisplayText.clean(finding.line))")
    }
    if findings.count > Self.findingsShownMax {
      session.output.note("and \(findings.count - Self.findingsShownMax) more of the kind")
    }
    if let url {
      LinkVerdicts(apple: apple, android: android, only: app.map { [$0.text] }).show(url, session)
    } else if session.isJSON {
      session.output.json([
        "file": .string(path), "kind": isAndroid ? "assetlinks" : "apple-app-site-association",
        "bytes": .integer(Int64(bytes.count)), "ok": .bool(!isFaulty),
        "findings": .array(findings.map(\.json)),
      ])
    } else {
      let kind = isAndroid ? "assetlinks.json" : "apple-app-site-association"
      let apps = isAndroid ? android.statements.count : AssociationMatcher(apple).apps.count
      session.output.line(
        "\(shownPath): \(isFaulty ? "faulty" : "ok") (\(kind), \(CountText.of(bytes.count, "byte")), \(apps) "
          + "app\(apps == 1 ? "" : "s") with links)")
    }
    return isFaulty ? .badData : .done
  }

  private var shownPath: String { path == "-" ? "stdin" : DisplayText.clean(path) }

  private func content() throws -> [UInt8] {
    // Four times the size that devices accept, so that the reader can report a file that is too large.
    let most = AppSiteAssociation.byteCountMax * 4
    guard path != "-" else {
      guard let bytes = try session.dependencies.input(most) else {
        throw OperatorFault(.badData, "stdin is larger than any association file")
      }
      return bytes
    }
    do throws(SystemError) {
      return try FileReading.content(of: path, bytesMax: most).bytes
    } catch {
      if error.isMissingFile { throw OperatorFault(.notFound, "there is no file \(shownPath)") }
      throw OperatorFault(.refused, "cannot read \(shownPath) (\(error.reason))")
    }
  }
}

extension LinkFinding {
  /// One line of text.
  var line: String { place.isEmpty ? "the file \(message)" : "\(place) \(message)" }

  var json: JSONValue {
    [
      "severity": .string(severity.rawValue), "place": .string(place), "message": .string(message),
    ]
  }
}
