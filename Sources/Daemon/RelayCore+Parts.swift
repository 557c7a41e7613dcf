// Makes the parts of the relay that need something that can fail. The main thread.

internal import Config
internal import HTTPClient
internal import Platform
internal import Service
internal import Store
internal import Upkeep
internal import Web

extension RelayCore {
  static func reader(_ engine: any StoreEngine) throws(DaemonError) -> StoreReader {
    do throws(StoreError) {
      return try engine.openReader()
    } catch {
      throw DaemonError(error)
    }
  }

  static func directory(_ configuration: Configuration) throws(DaemonError) -> AppDirectory {
    do {
      return try AppDirectory(configuration)
    } catch {
      throw .configuration(
        (error as? Fault) ?? Fault(path: "apps", message: "a secret cannot be used as a key"))
    }
  }

  static func associations(_ configuration: Configuration) throws(DaemonError) -> AssociationFileSet {
    do throws(Fault) {
      return try AssociationFileSet(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  static func writer(
    _ engine: any StoreEngine, _ directory: AppDirectory, _ dependencies: RelayDependencies
  ) throws(DaemonError) -> StoreWriter {
    do throws(StoreError) {
      return try engine.openWriter(rules: directory.rules, random: dependencies.shared.random)
    } catch {
      throw DaemonError(error)
    }
  }

  static func indexer(
    _ engine: any StoreEngine, _ committer: Committer, _ dependencies: RelayDependencies,
    _ ownership: any Ownership
  ) throws(DaemonError) -> SearchIndexer {
    SearchIndexer(
      reader: try reader(engine), committer: committer, dependencies: dependencies.shared,
      ownership: ownership, mentions: ProcessorRegistry.standard.mentions)
  }

  /// Nil if no transport for keys is given.
  static func keyFetcher(
    _ directory: AppDirectory, _ metrics: Metrics, _ dependencies: RelayDependencies
  ) -> KeyFetcher? {
    dependencies.keyTransport.map { transport in
      KeyFetcher(
        transport: transport, directory: directory, metrics: metrics, dependencies: dependencies.shared)
    }
  }

  /// Nil if no lookup transport is given.
  static func lookupWorker(
    _ engine: any StoreEngine, _ directory: AppDirectory, _ committer: Committer, _ metrics: Metrics,
    _ dependencies: RelayDependencies, _ ownership: any Ownership
  ) throws(DaemonError) -> LookupWorker? {
    guard let transport = dependencies.lookupTransport else { return nil }
    return LookupWorker(
      transport: transport, reader: try reader(engine), directory: directory, committer: committer,
      metrics: metrics, dependencies: dependencies.shared, ownership: ownership,
      noteServiceInterval: dependencies.noteServiceInterval)
  }

  /// Nil if no transports for them are given.
  static func backendWorkers(
    _ engine: any StoreEngine, _ directory: AppDirectory, _ committer: Committer, _ metrics: Metrics,
    _ dependencies: RelayDependencies, _ ownership: any Ownership
  ) throws(DaemonError) -> (BackendWorker?, CaptureWorker?) {
    guard let transports = dependencies.backendTransports else { return (nil, nil) }
    func parts(_ transport: any HTTPTransport) throws(DaemonError) -> BackendParts {
      BackendParts(
        transport: transport, reader: try reader(engine), directory: directory, committer: committer,
        metrics: metrics, dependencies: dependencies.shared, ownership: ownership, grace: dependencies.grace)
    }
    let captures = CaptureWorker(try parts(transports.captures))
    return (BackendWorker(try parts(transports.requests), captures: captures), captures)
  }
}

extension DaemonError {
  init(_ error: StoreError) {
    switch error {
    case .fault(let fault): self = .database(error.description, isBusy: fault.kind == .busy)
    // An operator has to decide, so a restart must not try again.
    case .retired, .unfinishedCopy, .severalSchemas: self = .refused(error.description)
    default: self = .database(error.description, isBusy: false)
    }
  }
}
