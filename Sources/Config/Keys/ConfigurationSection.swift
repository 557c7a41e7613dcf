// The keys of one object of the configuration. Pure; any thread.

internal import Formats

/// What is declared about the objects that set up an `Owner`.
struct ConfigurationSection<Owner: Sendable>: Sendable {
  /// What the keys are read into: the default of each key that has one, and a placeholder for each required
  /// one. A configuration with a placeholder in it has a fault, so nobody uses it.
  let initial: Owner
  /// In the order of the manual page, which is also the order of faults.
  let keys: [ConfigurationKey<Owner>]
  /// Rules of the JSON Schema that concern several keys.
  let rules: JSONValue

  init(_ initial: Owner, rules: JSONValue = [:], _ keys: [ConfigurationKey<Owner>]) {
    self.initial = initial
    self.keys = keys
    self.rules = rules
  }

  /// Reads every key, and reports every other one.
  /// - Returns: false after a fault that leaves a required value unset.
  func read(_ owner: inout Owner, _ reader: ObjectReader, _ context: ConfigurationReader) -> Bool {
    var isComplete = true
    for key in keys where !key.read(&owner, reader, context) { isComplete = false }
    reader.reportUnknownKeys(known: keys.map(\.name))
    return isComplete
  }

  /// Every key with the value in force; of a secret, only its source (R7).
  func show(_ owner: Owner) -> JSONValue {
    .object(keys.compactMap { key in key.show(owner).map { JSONValue.Member(name: key.name, value: $0) } })
  }

  /// Every secret with its path, in the order of the manual page.
  func secrets(_ owner: Owner, _ path: String) -> [Configuration.SecretEntry] {
    keys.flatMap { key in key.secrets(owner, path.isEmpty ? key.name : "\(path).\(key.name)") }
  }

  var members: [KeyDescription] { keys.map { $0.describe(initial) } }

  var shape: ValueShape {
    let members = members
    var shape = ValueShape(nil, ConfigurationSchema.object(members, rules: rules))
    shape.members = members
    return shape
  }
}

extension ValueForm {
  /// An object with the keys of a section; nil after a fault that leaves a required value unset.
  static func section(_ section: ConfigurationSection<Value>) -> ValueForm {
    ValueForm(
      shape: section.shape,
      read: { value, path, context in
        var owner = section.initial
        let reader = ObjectReader(value, path: path, collector: context.collector)
        return section.read(&owner, reader, context) ? owner : nil
      },
      show: { section.show($0) }, secrets: { section.secrets($0, $1) })
  }
}
