// Reading an app's kept events again, for whoever has its configuration and none of its secrets. A value; any
// thread.

public import Configuration
public import Domain
internal import Processors
public import Store

/// An app's way to read events.
public struct EventReader: Sendable {
  private let app: String
  private let processors: [ProcessorName: any PaymentProcessor]

  /// - Throws: when the cryptographic library cannot be used.
  public init(_ configuration: AppConfiguration) throws {
    app = configuration.slug
    processors = try Dictionary(
      uniqueKeysWithValues: configuration.processors.map {
        ($0.name, try $0.section.makeProcessor(for: .reading))
      })
  }

  /// An event's bytes, read as if they had just come; nil when the app does not have the processor any more.
  public func event(_ body: [UInt8], of processor: ProcessorName, now: Timestamp) -> TakeEvent? {
    processors[processor].map { reader in
      TakeEvent(reader.read(body, now: now), app: app, processor: processor, body: body)
    }
  }
}
