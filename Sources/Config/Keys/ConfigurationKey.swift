// The declaration of a key. Everything that the relay knows of a key is declared here, once: the reader, the
// redacted configuration, the list of secrets and every document are derived from it. Pure; any thread.
//
// Properties, forms and sections are made when a key is used: a start reads few of them, and made at once
// they cost it a quarter of its instructions, most of them for key paths and generic types.

internal import Formats

/// One key of the objects that set up an `Owner`.
struct ConfigurationKey<Owner>: Sendable {
  typealias Property<Value> = @Sendable () -> any WritableKeyPath<Owner, Value> & Sendable
  typealias Form<Value: Sendable> = @Sendable () -> ValueForm<Value>

  let name: String
  /// Whether a running receiptd keeps the old value, because it uses the key only at the start.
  private(set) var needsRestart = false
  /// The description, with the defaults of this owner.
  private(set) var describe: @Sendable (Owner) -> KeyDescription
  /// Reads the key, if it is there.
  /// - Returns: false after a fault that leaves a required value unset.
  private(set) var read: @Sendable (inout Owner, ObjectReader, ConfigurationReader) -> Bool
  /// The value in force, of a secret only its source (R7); nil when there is none.
  let show: @Sendable (Owner) -> JSONValue?
  /// The secrets in the value. The text is the key's path.
  let secrets: @Sendable (Owner, String) -> [Configuration.SecretEntry]

  init(
    _ name: String, describe: @escaping @Sendable (Owner) -> KeyDescription,
    read: @escaping @Sendable (inout Owner, ObjectReader, ConfigurationReader) -> Bool,
    show: @escaping @Sendable (Owner) -> JSONValue?,
    secrets: @escaping @Sendable (Owner, String) -> [Configuration.SecretEntry]
  ) {
    self.name = name
    self.describe = describe
    self.read = read
    self.show = show
    self.secrets = secrets
  }

  /// The same key with a step after it was read: a check against other keys, or a value that follows from it.
  func then(
    _ check: @escaping @Sendable (inout Owner, ObjectReader, ConfigurationReader) -> Void
  ) -> Self {
    var key = self
    key.read = { [read] owner, reader, context in
      defer { check(&owner, reader, context) }
      return read(&owner, reader, context)
    }
    return key
  }

  /// The same key, used only at the start.
  var fixedUntilRestart: Self {
    var key = self
    key.needsRestart = true
    key.describe = { [describe] owner in
      var description = describe(owner)
      description.needsRestart = true
      return description
    }
    return key
  }
}

extension ConfigurationKey {
  /// A key with a default, which is the property's initial value.
  static func key<Value>(
    _ name: String, _ property: @escaping @autoclosure Property<Value>,
    _ form: @escaping @autoclosure Form<Value>,
    example: JSONValue? = nil, _ text: String
  ) -> Self {
    ConfigurationKey(
      name,
      describe: { owner in
        KeyDescription(
          name: name, text: text, need: .standard(form().show(owner[keyPath: property()])), example: example,
          shape: form().shape)
      },
      read: { owner, reader, context in
        guard let value = reader.value(name),
          let value = form().read(value, reader.path(of: name), context)
        else { return true }
        owner[keyPath: property()] = value
        return true
      },
      show: { form().show($0[keyPath: property()]) },
      secrets: { form().secrets($0[keyPath: property()], $1) })
  }

  /// A key without a value unless the file gives one.
  static func optional<Value>(
    _ name: String, _ property: @escaping @autoclosure Property<Value?>,
    _ form: @escaping @autoclosure Form<Value>,
    example: JSONValue? = nil, need: KeyDescription.Need = .absent, _ text: String
  ) -> Self {
    ConfigurationKey(
      name,
      describe: { _ in
        KeyDescription(name: name, text: text, need: need, example: example, shape: form().shape)
      },
      read: { owner, reader, context in
        if let value = reader.value(name) {
          owner[keyPath: property()] = form().read(value, reader.path(of: name), context)
        }
        return true
      },
      show: { $0[keyPath: property()].map(form().show) },
      secrets: { owner, path in owner[keyPath: property()].map { form().secrets($0, path) } ?? [] })
  }

  /// A key that a file must have.
  /// - Parameters:
  ///   - advice: what to do when it is missing.
  ///   - other: a key that makes it optional.
  static func required<Value>(
    _ name: String, _ property: @escaping @autoclosure Property<Value>,
    _ form: @escaping @autoclosure Form<Value>,
    example: JSONValue? = nil, unless other: String? = nil, advice: String, _ text: String
  ) -> Self {
    ConfigurationKey(
      name,
      describe: { _ in
        KeyDescription(
          name: name, text: text, need: other == nil ? .required : .alternative(isPreferred: true),
          example: example, shape: form().shape)
      },
      read: { owner, reader, context in
        if let other, reader.has(other), !reader.has(name) { return true }
        guard let value = reader.required(name, advice),
          let value = form().read(value, reader.path(of: name), context)
        else { return false }
        owner[keyPath: property()] = value
        return true
      },
      show: { owner in
        // Without it there is the other key.
        let value = form().show(owner[keyPath: property()])
        return other != nil && value == [] ? nil : value
      },
      secrets: { form().secrets($0[keyPath: property()], $1) })
  }

  /// An object whose keys are read whether it is there or not.
  static func section<Value>(
    _ name: String, _ property: @escaping @autoclosure Property<Value>,
    _ section: @escaping @autoclosure @Sendable () -> ConfigurationSection<Value>, _ text: String
  ) -> Self {
    ConfigurationKey(
      name,
      describe: { _ in KeyDescription(name: name, text: text, need: .section, shape: section().shape) },
      read: { owner, reader, context in
        section().read(&owner[keyPath: property()], reader.object(name), context)
      },
      show: { section().show($0[keyPath: property()]) },
      secrets: { section().secrets($0[keyPath: property()], $1) })
  }
}
