// Reads an app's stored events again, with its configuration but without its secrets. A value.

public import Config
public import Domain
internal import Partners
public import Store

/// Reads stored events of one app.
public struct EventReader: Sendable {
  private let app: AppSlug
  private let processors: [ProcessorName: any PaymentProcessor]

  /// - Throws: an error if libcrypto cannot be used.
  public init(_ configuration: AppConfiguration) throws {
    app = configuration.slug
    processors = try Dictionary(
      uniqueKeysWithValues: configuration.processors.map {
        (
          $0.name,
          try $0.section.makeProcessor(for: .reading, in: configuration, userAgent: Version.userAgent)
        )
      })
  }

  /// Whether the app still has the processor.
  public func reads(_ processor: ProcessorName) -> Bool { processors[processor] != nil }

  /// Reads an event's bytes like those of a webhook; nil if the app does not have the processor any more.
  public func event(_ body: [UInt8], of processor: ProcessorName, now: Timestamp) -> IngestEvent? {
    processors[processor].map { reader in
      IngestEvent(
        reader.read(body, now: now), app: app, processor: processor, body: body,
        mentions: type(of: reader).mentions)
    }
  }
}
