// Which destination gets the receipts of an app's purchases. Pure; any thread.

public import Domain
public import Reports

extension AppConfiguration {
  /// The kinds of the app's destinations.
  package var destinationKinds: [DestinationKind] { destinations.kinds.filter { $0.isConfigured(self) } }

  /// The destination of a processor's purchases; nil if the app does not have it. Those of a processor that
  /// is not configured any more go to the first destination that can express them.
  public func destination(of processor: ProcessorName) -> DestinationName? {
    let kinds = destinationKinds
    guard let section = self.processor(processor) else { return kinds.first { $0.accepts(processor) }?.name }
    return kinds.contains { $0.name == section.deliverTo.first } ? section.deliverTo.first : nil
  }

  /// The destination that gets a copy of the receipts for a processor's purchases; nil for none.
  public func secondDestination(of processor: ProcessorName) -> DestinationName? {
    let name = self.processor(processor)?.deliverTo.second
    return destinationKinds.first { $0.name == name }?.name
  }

  /// Which receipts do not go to the destination of their processor.
  public var exclusions: [DestinationExclusion] { destinationKinds.flatMap { $0.exclusions(self) } }

  /// The destinations that the app has for a purchase.
  public func destinations(of key: PurchaseKey) -> PurchaseDestinations {
    PurchaseDestinations(
      of: key, usual: destination(of: key.processor), second: secondDestination(of: key.processor),
      all: Set(destinationKinds.map(\.name)), exclusions: exclusions)
  }

  /// What the app's destinations do with a second receipt of a purchase.
  public var destinationCorrections: [String] {
    destinationKinds.compactMap { $0.advice(self)?.secondReceipt }
  }

  /// What to do when a destination refuses the app's configuration; nil if the app does not have it.
  public func destinationAdvice(_ name: DestinationName) -> DestinationAdvice? {
    destinations[name]?.advice(self)
  }
}

extension Configuration {
  /// What to do when a destination refuses an app's configuration; nil if the app is not configured, or does
  /// not have the destination.
  public func destinationAdvice(of place: AppDestination) -> DestinationAdvice? {
    app(place.app)?.destinationAdvice(place.destination)
  }
}
