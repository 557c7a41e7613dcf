// `receiptctl doctor`: the database and its disk. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

/// The space and the speed of a file's disk.
enum DiskCheck: DoctorCheck {
  static let subject = Finding.Check.disk
  private static let next = ReadinessReason.diskFull.advice
  private static let (freeMin, freeGood): (Int64, Int64) = (1 << 30, 5 << 30)
  private static let daysGood: Int64 = 30
  /// Every answer waits for a sync.
  private static let (syncGood, syncMax): (Duration, Duration) = (.milliseconds(20), .milliseconds(500))

  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    guard let path = scene.configuration.database.filePath else { return [] }
    let folder = FileWriting.folder(of: (try? FilePath.resolved(path)) ?? path)
    guard let free = DiskSpace.availableBytes(at: folder) else {
      return [failure("there is no folder \(folder)", next: "receiptctl config check")]
    }
    // A user who may not write there cannot measure the disk.
    return [finding(free: free, days: try daysLeft(free, path, scene), sync: DiskSync.median(in: folder))]
  }

  /// - Parameters:
  ///   - free: bytes.
  ///   - days: after which the disk is full if the database grows as before; nil if that is not known.
  ///   - sync: how long a sync takes; nil if that is not known.
  static func finding(free: Int64, days: Int64?, sync: Duration?) -> Finding {
    let left =
      days.map { $0 > 3650 ? ", enough for years" : ", enough for \($0) days as it grew so far" } ?? ""
    let space = "\(HealthReport.size(free)) free\(left)"
    if free < freeMin { return failure("only \(space)", next: next) }
    let time = sync.map { "; a sync takes \(Int64($0 / .microseconds(1))) µs" } ?? ""
    let look = "See what else uses the disk, and whether it is sound: systemctl status receiptd"
    if let sync, sync > syncMax { return failure("\(space)\(time), so every request waits", next: look) }
    if free < freeGood || days.map({ $0 < daysGood }) ?? false { return warning("only \(space)", next: next) }
    if let sync, sync > syncGood { return warning("\(space)\(time), so every request waits", next: look) }
    return ok("\(space)\(time)")
  }

  /// The file never shrinks, and retention keeps it from growing for ever: so this is the shortest time.
  private static func daysLeft(_ free: Int64, _ path: String, _ scene: DoctorScene) throws -> Int64? {
    guard let bytes = DiskSpace.fileBytes(at: path), bytes > 0,
      let oldest = try scene.reader?.oldestPurchaseAt()
    else { return nil }
    let age = scene.now.duration(since: oldest)
    guard age >= .days(1) else { return nil }
    return Int64((Double(free) / Double(bytes) * age.inSeconds / 86_400).rounded(.down))
  }
}

/// What a program sees of the database without reading all of it.
enum DatabaseStateCheck: DoctorCheck {
  static let subject = Finding.Check.database
  private static let check = "receiptctl db check"
  /// receiptd truncates a longer log, unless a reader keeps it from that.
  private static let logBytesMax: Int64 = 256 << 20

  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    if let fault = scene.readerFault { return [failure(fault.message, next: "Then look again: \(again())")] }
    switch scene.configuration.database {
    case .file(let path): return file((try? FilePath.resolved(path)) ?? path, scene)
    case .postgres(let url): return try server(url, scene)
    }
  }

  private static func file(_ path: String, _ scene: DoctorScene) -> [Finding] {
    let names = Set(scene.health?.report?.reasons.map(\.name) ?? [])
    if names.contains("database_damaged") {
      return [failure("receiptd found damaged pages", next: "receiptctl db check")]
    }
    var findings: [Finding] = []
    if let file = FileIdentity(path: path), file.links > 1 {
      findings.append(
        warning(
          "the file has \(file.links) names; opened by another name its log is lost",
          next: "Remove the other names: find / -xdev -samefile \(ShellWord.quoted(path))"))
    }
    // receiptd reports it, if it runs.
    if scene.health?.report == nil, let kind = FileSystemKind.remote(at: path) {
      findings.append(.remote(fileSystem: kind))
    }
    if let log = DiskSpace.fileBytes(at: path + "-wal"), log > logBytesMax {
      findings.append(
        warning(
          "the log has \(HealthReport.size(log)): a program that reads keeps it from being restarted",
          next: "See which one, and end it: lsof \(ShellWord.quoted(path + "-wal"))"))
    }
    let size = DiskSpace.fileBytes(at: path).map(HealthReport.size) ?? "0 MiB"
    return findings.isEmpty ? [ok("\(size); to check every page: \(check)")] : findings
  }

  private static func server(_ url: DatabaseURL, _ scene: DoctorScene) throws -> [Finding] {
    let server = try ServerState(url, scene.configuration)
    if let fault = server.fault { return [failure(fault, next: check)] }
    return server.warnings.isEmpty
      ? [ok("PostgreSQL \(server.version), commits are kept")]
      : server.warnings.map { warning($0, next: check) }
  }
}
