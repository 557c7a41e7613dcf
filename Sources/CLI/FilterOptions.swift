// The options of receiptctl that filter lists, made from the fields that the dashboard shows, too.

internal import Config
internal import Domain
internal import Reports
internal import Terminal

extension OptionSpec {
  init<Filter: Sendable>(
    _ field: FilterField<Filter>, isHidden: Bool = false
  ) {
    guard let placeholder = field.placeholder else {
      self.init(flag: field.name, help: field.help)
      return
    }
    let choices: [String] =
      switch field.kind {
      case .choice(let words): words
      case .processor: ProcessorNames.ofPurchases
      case .text, .app, .moment, .flag: []
      }
    self.init(
      field.name, placeholder: placeholder, help: field.help, isRepeatable: field.isRepeatable,
      choices: choices, isHidden: isHidden)
  }
}

extension ListFilter {
  /// The options for all fields.
  static var options: [OptionSpec] { fields.map { OptionSpec($0) } }
}

extension Session {
  /// The filter that the options describe.
  /// - Parameter fields: those that are options of the command.
  func filter<Filter: ListFilter>(
    _ configuration: Configuration, of fields: [FilterField<Filter>] = Filter.fields
  ) throws -> Filter {
    _ = try app(configuration)
    do throws(FilterFault) {
      return try Filter(fields, now: now) { field in
        guard command.options.contains(field.name) else { return nil }
        if field.kind == .flag { return FilterFlag.given }
        return field.isRepeatable
          ? command.options.all(field.name).joined(separator: ",") : command.options[field.name]
      }
    } catch {
      throw usage("--\(error.name) \(DisplayText.clean(error.message))")
    }
  }
}
