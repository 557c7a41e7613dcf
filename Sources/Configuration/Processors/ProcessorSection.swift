// A payment processor as the configuration has it. What a new one adds here is one `ProcessorKind`, its
// section, and its line in `ProcessorRegistry.standard`. Pure, but for the reading of secrets.

package import Domain
package import JSON
internal import Platform
package import Processors

/// One processor's part of an app's configuration: `apps.NAME.PROCESSOR`.
package protocol ProcessorSection: Sendable, Equatable {
  static var kind: ProcessorKind { get }

  /// The destination that gets the receipts of its purchases; one of `DestinationKind.all`.
  var deliverTo: String { get }
  /// Whether the app has a key for asking it.
  var isAsked: Bool { get }
  /// After how long a time in which receiptd was down its events are fetched; nil for never.
  var backfillAfterMilliseconds: Int64? { get }
  /// What its webhooks are authenticated with.
  var webhookSecrets: [Secret] { get }
  /// Every secret, by its key in the section, in the order of the manual.
  var secrets: [(key: String, secret: Secret)] { get }
  /// Every key with its value, and of each secret where it is (R7).
  var redacted: JSONValue { get }

  /// - Throws: `Fault` when a secret that the use needs cannot be read.
  func makeProcessor(for use: ProcessorUse) throws -> any PaymentProcessor
}

/// What a processor is made for, and which secrets that needs.
package enum ProcessorUse: Sendable {
  /// Serving: all of them.
  case serving
  /// Asking it: its key.
  case asking
  /// Reading events that are here: none.
  case reading
}

extension ProcessorSection {
  package var kind: ProcessorKind { Self.kind }

  /// What the rules of the join must know.
  package var rules: ProcessorRules { kind.rules(isAsked) }

  fileprivate func equals(_ other: any ProcessorSection) -> Bool { (other as? Self) == self }
}

/// A section of any processor.
package struct ConfiguredProcessor: Sendable, Equatable {
  package let section: any ProcessorSection

  package init(section: any ProcessorSection) { self.section = section }

  package var name: ProcessorName { section.kind.name }

  package static func == (left: Self, right: Self) -> Bool { left.section.equals(right.section) }
}

/// One kind of payment processor.
package struct ProcessorKind: Sendable {
  /// The word for it in the configuration, in URLs, rows and metrics.
  package let name: ProcessorName
  /// Its name for people.
  package let label: String
  /// What the rules of the join must know; asked or not.
  package let rules: @Sendable (_ isAsked: Bool) -> ProcessorRules
  /// Whether the path of its webhooks ends in a secret.
  package let hasPathToken: Bool
  /// Its section of the starter file, which is also its part of the manual.
  let template: String
  /// Reads its section; nil after a fault that leaves a part of it without a value.
  let read: @Sendable (ConfigurationReader, ObjectReader) -> (any ProcessorSection)?

  init<Processor: PaymentProcessor>(
    _ processor: Processor.Type, label: String, template: String,
    read: @escaping @Sendable (ConfigurationReader, ObjectReader) -> (any ProcessorSection)?
  ) {
    name = Processor.name
    self.label = label
    rules = { Processor.rules(isAsked: $0) }
    hasPathToken = Processor.hasPathToken
    self.template = template
    self.read = read
  }
}

/// The payment processors that a configuration may name.
package struct ProcessorRegistry: Sendable, Equatable {
  /// The first is the one that an app without any is told to configure.
  package let kinds: [ProcessorKind]

  /// Those of this program. A new processor is one more here.
  package static let standard = ProcessorRegistry(kinds: [.stripe])

  /// The one that may send its events again for the longest.
  var longestRepeating: ProcessorKind? {
    kinds.max { $0.rules(false).repeatMilliseconds < $1.rules(false).repeatMilliseconds }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.kinds.map(\.name) == right.kinds.map(\.name)
  }
}

extension ConfigurationReader {
  /// The sections of an app's processors; at least one.
  func processors(in reader: ObjectReader) -> [ConfiguredProcessor]? {
    let named = processors.kinds.filter { reader.value($0.name.rawValue) != nil }
    let kinds = named.isEmpty ? Array(processors.kinds.prefix(1)) : named
    let sections = kinds.map { kind in kind.read(self, reader.object(kind.name.rawValue)) }
    // Known, although it was left out.
    for kind in processors.kinds { _ = reader.value(kind.name.rawValue) }
    guard sections.allSatisfy({ $0 != nil }) else { return nil }
    return sections.compactMap { $0.map(ConfiguredProcessor.init) }
  }

  /// The key `deliver_to` of a processor's section.
  func deliverTo(_ reader: ObjectReader, default fallback: String) -> String {
    let path = reader.path(of: "deliver_to")
    let names = DestinationKind.all.map(\.name)
    let expected = "the name of a destination: " + names.map { "\"\($0)\"" }.joined(separator: " or ")
    guard let name = reader.text(reader.value("deliver_to"), path: path, mustBe: expected) else {
      return fallback
    }
    if !names.contains(name) { collector.fault(path, "must be \(expected)") }
    return name
  }
}

extension AppConfiguration {
  /// The section of one processor.
  func processor(_ name: ProcessorName) -> (any ProcessorSection)? {
    processors.first { $0.name == name }?.section
  }

  /// What the rules of the join must know of each processor.
  package var processorRules: [ProcessorName: ProcessorRules] {
    Dictionary(uniqueKeysWithValues: processors.map { ($0.name, $0.section.rules) })
  }
}
