// The project's rules that neither the compiler nor the formatter checks. Pure: a rule looks at one file.

import Testing

/// A violation, its place and its fix.
struct Finding: Equatable, CustomStringConvertible {
  let path: String
  var line: Int?
  let message: String

  var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }
}

struct Rule: Sendable, CustomTestStringConvertible {
  let name: String
  let check: @Sendable (RepositoryFile) -> [Finding]

  var testDescription: String { name }

  /// The most lines of a file and of a function, and the most columns of a line. A longer file should be
  /// split by topic.
  static let fileLinesMax = 500
  static let functionLinesMax = 70
  static let columnsMax = 110

  static let all = [
    fileLength, functionLength, width, importsOfC, importsOfGlibc, engine, unsafety, domain, vendors,
    foundation, kit, spans, unfinished, forcing, spawning, encoding, locking, expectations, limits,
    language,
  ]
}

extension Rule {
  static let fileLength = Rule(name: "files are short") { file in
    let lines = file.lines.count
    return lines <= fileLinesMax
      ? [] : [Finding(path: file.path, message: "\(lines) lines; split it by what it is about")]
  }

  static let functionLength = Rule(name: "functions are short") { file in
    guard file.isSwift else { return [] }
    return FunctionLength.all(in: file.code).filter { $0.lines > functionLinesMax }.map {
      Finding(
        path: file.path, line: $0.line, message: "\($0.name) has \($0.lines) lines; take parts out of it")
    }
  }

  static let width = Rule(name: "lines fit the columns") { file in
    // No line has more characters than bytes, so the cheap check comes first.
    file.lines.enumerated().filter { $0.element.utf8.count > columnsMax && $0.element.count > columnsMax }.map
    {
      Finding(path: file.path, line: $0.offset + 1, message: "\($0.element.count) columns; break it")
    }
  }

  /// Only its wrapper imports a C library.
  static let importsOfC = Rule(name: "C stays behind its wrapper") { file in
    file.imports.compactMap { line, module in
      guard let wrapper = wrappers[module], file.room != wrapper, !file.isDisk(of: module) else {
        return nil
      }
      return Finding(
        path: file.path, line: line, message: "imports \(module), which belongs to Sources/\(wrapper) alone")
    }
  }

  static let importsOfGlibc = Rule(name: "the system is reached through Platform") { file in
    guard let room = file.room, !mayTouchC.contains(room), !programs.contains(room) else { return [] }
    return file.imports.filter { $0.module == "Glibc" }.map {
      Finding(path: file.path, line: $0.line, message: "imports Glibc; give Platform what is missing")
    }
  }

  /// SQLite and PostgreSQL are engines of the store. Programs name one where they choose the engine, and
  /// where they work on the file or the server. The conformance suite never does, because other
  /// engines must pass it, too.
  static let engine = Rule(name: "the store's engine stays behind its protocol") { file in
    let imports = file.imports.filter { _, module in
      guard ["SQLiteStore", "PostgresStore"].contains(module) else { return false }
      return file.room == nil ? !file.testsFiles : !file.choosesEngine
    }.map {
      Finding(
        path: file.path, line: $0.line, message: "imports \($0.module); use what Store says of any engine")
    }
    guard file.room == "Store" || file.isOfConformance else { return imports }
    return imports
      + file.findings(
        in: file.code, of: #/\w*SQLite\w*/#, having: ["SQLite"],
        "names an engine in what every engine shares")
  }

  static let unsafety = Rule(name: "unsafe code stays in the wrappers") { file in
    guard let room = file.room, !mayBeUnsafe.contains(room) else { return [] }
    return file.findings(
      in: file.code, of: #/\bunsafe\b/#, having: ["unsafe"], "unsafe code outside of the wrappers")
  }

  /// Formats has no input or output either: it has texts, and units of time.
  static let domain = Rule(name: "Domain imports nothing but Formats") { file in
    guard file.room == "Domain" else { return [] }
    return file.imports.filter { $0.module != "Formats" }.map {
      Finding(path: file.path, line: $0.line, message: "imports \($0.module); hand in values instead")
    }
  }

  /// Code that works with every payment processor and every destination. `stripe_price_id` is a field of
  /// `ply_context`, and the app's developers know that blob from Purchasely's SDK, so Intake may say so. The
  /// store has a dictionary for each processor, to read bodies of one that is not configured any more.
  static let vendors = Rule(name: "what serves every processor and destination names none") { file in
    guard let room = file.room, vendorless.contains(room), !file.path.hasSuffix("/BodyDictionary.swift")
    else { return [] }
    return file.lines.enumerated().flatMap { number, line -> [Finding] in
      let text = line.lowercased().replacing("stripe_price_id", with: "")
      return ["Stripe", "Purchasely"].filter { vendor in
        text.contains(vendor.lowercased()) && !(room == "Daemon/Intake" && vendor == "Purchasely")
      }.map { vendor in
        Finding(
          path: file.path, line: number + 1, message: "names \(vendor); say it in \(room)'s own terms")
      }
    }
  }

  static let foundation = Rule(name: "nobody imports all of Foundation") { file in
    guard !file.path.hasPrefix("Tests/"), file.room != "CheckoutKit" else { return [] }
    return file.imports.filter { $0.module == "Foundation" }.map {
      Finding(
        path: file.path, line: $0.line, message: "imports Foundation; FoundationEssentials does without ICU")
    }
  }

  /// Apps always have Foundation, and SwiftUI where there are screens; the rest of this repository is not on
  /// their devices.
  static let kit = Rule(name: "CheckoutKit needs nothing but Foundation, and SwiftUI for its views") { file in
    guard let room = file.room else { return [] }
    let allowed = ["Foundation", "FoundationNetworking"]
    let folders = ["SwiftUI", "Session"].map { "Sources/CheckoutKit/\($0)/" }
    let views = folders.contains(where: file.path.hasPrefix) ? ["SwiftUI"] : []
    return file.imports.filter { _, module in
      room == "CheckoutKit" ? !(allowed + views).contains(module) : module == "CheckoutKit"
    }.map {
      Finding(
        path: file.path, line: $0.line,
        message: "imports \($0.module); the app's side and the daemon know nothing of each other")
    }
  }

  /// A span of time is a `Duration`. A number of milliseconds is a moment on a clock, or goes to C or SQL.
  static let spans = Rule(name: "spans of time are durations") { file in
    guard file.isSwift, file.room != "CheckoutKit" else { return [] }
    // The named ones are moments: on the wall clock, or on the monotonic one.
    let number =
      #/\b(?!(?:unix|wall|now|monotonic)M)\w+Milliseconds\w*(?::\s*\[?U?Int|\s*=\s*\d|\(.*->\s*U?Int)/#
    return file.findings(
      in: file.code, of: number, having: ["Milliseconds"], "is a number of milliseconds; make it a Duration")
  }

  /// Comments and strings count, too.
  static let unfinished = Rule(name: "nothing is left to do") { file in
    let marks = #/\b(?:TO[D]O|FIX[M]E)\b/#
    return file.findings(
      in: file.text, of: marks, having: ["TO" + "DO", "FIX" + "ME"],
      "is not finished; finish it or leave it out")
  }

  static let forcing = Rule(name: "nothing is forced") { file in
    file.isSwift
      ? file.findings(
        in: file.code, of: #/\btry!|\bas!/#, having: ["try!", "as!"],
        "traps when it fails; handle the failure") : []
  }

  /// `Process` reads past a buffer on Linux (findMaximumOpenFromProcSelfFD), which Address Sanitizer reports.
  static let spawning = Rule(name: "programs are started in one place") { file in
    guard file.isSwift, !spawners.contains(file.path) else { return [] }
    return file.findings(
      in: file.code, of: #/\bProcess\(|\bposix_spawnp?\(|\bv?fork\(|\bexecv\w*\(|\bpopen\(/#,
      having: ["Process(", "posix_spawn", "fork(", "execv", "popen("],
      "starts a program; Subprocess in Platform does that, and Spawn in TestSupport")
  }

  private static let spawners = [
    "Sources/Support/Platform/Subprocess.swift", "Tests/TestSupport/Spawn.swift",
  ]

  /// Several encoders would treat broken input differently. CheckoutKit and its tests cannot import this one,
  /// and use Foundation's.
  static let encoding = Rule(name: "percent-encoding and base64 are in one place") { file in
    guard file.isSwift, file.room != "Support/Formats/Encoding", file.room != "CheckoutKit",
      !file.path.hasPrefix("Tests/CheckoutKitTests/"), !file.path.hasSuffix("/WebCheckoutSample.swift")
    else { return [] }
    let message = "encodes or decodes by other means; use Encoding"
    let calls = #/base64Encod[e]d|(?:adding|removing)PercentEncoding/#
    let found = file.findings(
      in: file.code, of: calls, having: ["base64Encod" + "ed", "PercentEncoding"], message)
    // What another encoder is made of. Tests may have one, to compare results with.
    guard file.room != nil else { return found }
    return found
      + file.findings(
        in: file.text, of: #/ascii: "%"|"0123456789ABCDEF"|xyz0123456789\+\//#,
        having: ["ascii: \"%\"", "0123456789"], message)
  }

  static let locking = Rule(name: "locks are pthread's") { file in
    guard file.isSwift else { return [] }
    return file.findings(
      in: file.code, of: #/\bMutex\b/#, having: ["Mutex"],
      "a futex that Thread Sanitizer cannot see; use Monitor")
  }

  static let expectations = Rule(name: "an expectation has one condition") { file in
    guard file.isSwift, file.path.hasPrefix("Tests/") else { return [] }
    return JoinedConditions.lines(in: file.code).map {
      Finding(
        path: file.path, line: $0,
        message: "does not show which condition failed; write one expectation for each")
    }
  }

  /// Swift Testing counts the time in which a test waits for a thread, which is minutes under a sanitizer,
  /// and cannot end a test that never waits. A run that hangs is ended by `deploy/dev/suites`.
  static let limits = Rule(name: "no test has a limit of time") { file in
    guard file.isSwift, file.path.hasPrefix("Tests/") else { return [] }
    return file.findings(
      in: file.code, of: #/\.timeLimit\(/#, having: [".timeLimit("],
      "fails on a busy machine; deploy/dev/suites ends what hangs")
  }

  static let wrappers = [
    "CSQLite": "Store/SQLite/Library", "CCurl": "Support/HTTPClient", "CMicroHTTPD": "Support/HTTPServer",
    "CCrypto": "Support/Cryptography", "CLibC": "Support/Platform", "CZstd": "Store/Bodies/Compression",
    "CPostgreSQL": "Store/Postgres/Library", "CQREncode": "Web/QRCode",
  ]
  private static let mayTouchC = Set(wrappers.values)
  /// JSON has views of borrowed bytes: it wraps memory instead of a library.
  private static let mayBeUnsafe = mayTouchC.union(["Support/Formats/JSON"])
  private static let vendorless: Set<String> = [
    "Domain", "Store", "Store/SQLite", "Reports", "Daemon", "Daemon/Intake", "Web",
  ]
  private static let programs: Set<String> = ["receiptd", "receiptctl"]
}

extension RepositoryFile {
  /// The lines; the newline at the end of the file does not begin another.
  var lines: [Substring] { Self.lines(of: text) }

  static func lines(of text: String) -> [Substring] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.last?.isEmpty == true ? lines.dropLast() : lines
  }

  /// Whether the file belongs to the simulated disk, which implements SQLite's interface.
  fileprivate func isDisk(of module: String) -> Bool {
    module == "CSQLite" && path.hasPrefix("Tests/SimulatedDisk/")
  }

  fileprivate var isOfConformance: Bool { path.hasPrefix("Tests/StoreTests/Conformance/") }

  /// Tests that create, damage or read a database file with SQLite directly.
  fileprivate var testsFiles: Bool {
    let targets: Set<Substring> = [
      "StoreTests", "DaemonTests", "CLITests", "EndToEndTests", "ReliabilityTests", "TestSupport",
    ]
    return !isOfConformance && path.split(separator: "/").dropFirst().first.map(targets.contains) ?? false
  }

  fileprivate var choosesEngine: Bool {
    path.contains("/Engines") || room == "CLI/Database" || path.hasSuffix("/Upkeep/Backups.swift")
  }

  /// The lines of a text that match.
  /// - Parameter parts: each match contains one of them. To look for these first takes a tenth of the time.
  fileprivate func findings(
    in text: String, of pattern: Regex<Substring>, having parts: [String], _ message: String
  ) -> [Finding] {
    guard parts.contains(where: text.contains) else { return [] }
    // The rules need no boundaries of natural-language words, which take much longer to find.
    let pattern = pattern.matchingSemantics(.unicodeScalar).wordBoundaryKind(.simple)
    return RepositoryFile.lines(of: text).enumerated().filter { $0.element.contains(pattern) }
      .map { Finding(path: path, line: $0.offset + 1, message: message) }
  }
}
