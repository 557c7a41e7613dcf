// The fields of a query or a form. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats

/// The fields of a query or a form. An empty field counts as absent, because forms send all fields.
struct AdminForm {
  /// In the order in which they were sent.
  let fields: [FormFields.Field]

  /// - Throws: `Fault` if it cannot be decoded.
  init(_ query: String?) throws(Fault) { try self.init(bytes: Array((query ?? "").utf8)) }

  init(_ fields: [FormFields.Field]) { self.fields = fields }

  init(bytes: [UInt8]) throws(Fault) {
    do {
      fields = try FormFields.all(in: bytes.span)
    } catch {
      throw Fault(path: "", message: "has a broken percent escape, or is not UTF-8")
    }
  }

  /// The value of the first field with this name.
  subscript(name: String) -> String? {
    fields.first { $0.name == name }.flatMap { UntrustedText.nonEmpty($0.value) }
  }
}
