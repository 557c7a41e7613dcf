// receiptd: command line, configuration, signals. The daemon itself is `Relay.Daemon`. The main thread.

internal import Config
import Daemon
internal import Domain
import Glibc
import Platform
import Service
import Terminal

@main
struct Receiptd {
  static func main() {
    StandardStream.occupyAll()
    // Before any other thread exists, so that all threads inherit the signal mask and leave the signals to
    // this one.
    Signals.block()
    ProcessLimits.keepFilesPrivate()
    ProcessLimits.raiseOpenFiles()
    MemoryPolicy.keepFreedPages()
    exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }

  /// How long the end of the process waits for the log's reader.
  private static let logFlushTime: Duration = .milliseconds(500)

  private static func run(_ arguments: [String]) -> ExitCode {
    let output = Output.standard(program: ReceiptdCommand.spec.name)
    do throws(UsageError) {
      switch try CommandParser(ReceiptdCommand.spec).parse(arguments) {
      case .show(let text):
        output.text(text)
        return .done
      case .run(let command):
        let path = ConfigurationLoader.path(option: command.options["config"], environment: .process)
        return command.flag("check")
          ? check(path, output) : serve(path, command, output)
      }
    } catch {
      output.error(error.description)
      return .usage
    }
  }

  private static func check(_ path: String, _ output: Output) -> ExitCode {
    do throws(ConfigurationFaults) {
      let loaded = try ConfigurationLoader.load(path: path)
      let warnings = loaded.warnings + loaded.configuration.databaseWarnings
      for warning in warnings { output.note("warning: \(warning.description)") }
      output.line("\(path): ok")
      return .done
    } catch {
      for warning in error.warnings { output.note("warning: \(warning.description)") }
      for fault in error.faults { output.error(fault.description) }
      return .configuration
    }
  }

  private static func serve(_ path: String, _ command: ParsedCommand, _ output: Output) -> ExitCode {
    let loaded: LoadedConfiguration
    do throws(ConfigurationFaults) {
      loaded = try ConfigurationLoader.load(path: path)
    } catch {
      for fault in error.faults { output.error(fault.description) }
      return .configuration
    }
    let settings = loaded.configuration.log
    let log = Log.queued(
      level: settings.level, format: settings.format, showsPersonal: settings.personal,
      marksPriority: JournalStream.isStandardError())
    // The reason of every end is written if the log has a reader; without a reader, this limits the delay.
    defer { log.flush(within: logFlushTime) }
    for warning in loaded.warnings { log.warning("configuration: \(warning.description)") }
    let sockets: [InheritedSocket]
    do throws(InheritedSocket.Unusable) {
      sockets = try InheritedSocket.all()
    } catch {
      log.error(error.description)
      return .configuration
    }
    do throws(DaemonError) {
      let daemon = try Daemon(
        loaded.configuration, makesNewDatabase: command.flag("new-database"),
        acceptsLostLog: command.flag("without-log"), sockets: sockets, log: log,
        onMigration: { Self.announceMigration(log) }
      ) { fault in
        log.error(
          "a write could not be made durable: ending here, so that nothing is acknowledged that is not on "
            + "disk; look at the disk, then start again: acknowledged data is there",
          ["error": fault])
        log.flush(within: logFlushTime)
        // No orderly stop, because it would continue to write. The next start reads the actual state of the
        // disk.
        _exit(ExitCode.diskFault.rawValue)
      }
      log.info(
        "ready",
        [
          "version": Version.number, "listen": String(daemon.publicPort), "admin": daemon.adminEndpoint,
          "apps": loaded.configuration.apps.map(\.slug.text).joined(separator: ","),
        ])
      Service(daemon, log: log, path: path).run()
      return .done
    } catch {
      return report(error, log)
    }
  }

  private static func announceMigration(_ log: Log) {
    log.info("migrating the database; this takes a while if the database is large")
    ServiceNotifier().extendTimeout(to: Daemon.migrationMax)
  }

  private static func report(_ error: DaemonError, _ log: Log) -> ExitCode {
    switch error {
    case .held(let holder?):
      log.error(
        holder.purpose == .serving
          ? "another receiptd serves this database; stop it first"
          : "receiptctl db restore or db copy is using this database; start again when it has ended",
        ["pid": holder.process.map(String.init) ?? "in another container"])
      return .tryAgain
    case .held(nil):
      log.error(
        "another receiptd serves this database file under another name (a hard link, or a mount of the file "
          + "alone); stop it first")
      return .tryAgain
    case .refused(let message):
      log.error(message)
      return .refused
    case .database(let message, let isBusy):
      log.error(message)
      return isBusy ? .tryAgain : .unavailable
    case .unavailable(let message):
      log.error(message)
      return .unavailable
    case .configuration(let fault):
      log.error(fault.description)
      return .configuration
    }
  }
}
