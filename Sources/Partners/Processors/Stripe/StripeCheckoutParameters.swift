// Parameters of Checkout Sessions that the configuration may set
// (https://docs.stripe.com/api/checkout/sessions/create). Pure; any thread.

public import Formats

/// The merchant's own parameters of each session, in Stripe's notation.
public struct StripeCheckoutParameters: Sendable, Equatable {
  /// The most levels of a parameter: Stripe's own have five.
  public static let depthMax = 8

  /// The parameters that may be set: those of Stripe's libraries, version 16.1.0 of stripe-python, except the
  /// relay's own.
  public static let known: Set<String> = [
    "adaptive_pricing", "after_expiration", "allow_promotion_codes", "allowed_payment_method_types",
    "automatic_tax", "billing_address_collection", "branding_settings", "consent_collection", "currency",
    "custom_fields", "custom_text", "customer_creation", "customer_update", "discounts",
    "excluded_payment_method_types", "expand", "expires_at",
    "integration_identifier", "invoice_creation", "locale", "managed_payments", "name_collection",
    "optional_items", "origin_context", "payment_intent_data", "payment_method_collection",
    "payment_method_configuration", "payment_method_data", "payment_method_options", "permissions",
    "phone_number_collection", "saved_payment_method_options", "setup_intent_data",
    "shipping_address_collection", "shipping_options", "submit_type", "subscription_data",
    "tax_id_collection", "wallet_options",
  ]

  /// The parameters by which the relay finds the session's user again and shows its page, and those that name
  /// the customer: one for all sessions would give everybody the same.
  public static let own: Set<String> = [
    "cancel_url", "client_reference_id", "customer", "customer_account", "customer_email", "line_items",
    "metadata", "mode", "redirect_on_completion",
    "return_url", "success_url", "ui_mode",
  ]

  /// The parameters that only one mode has.
  private static let modes: [String: StripeCheckoutSettings.Mode] = [
    "subscription_data": .subscription, "payment_method_collection": .subscription,
    "payment_intent_data": .payment, "invoice_creation": .payment, "customer_creation": .payment,
  ]

  /// The members are parameters; a value is a text, a whole number, a flag, a list or an object.
  public private(set) var object: JSONValue

  public init() { object = [:] }

  /// Why parameters cannot be used.
  public enum Fault: Error, Equatable, Sendable {
    case notAnObject
    /// Stripe knows no such parameter.
    case unknown(String)
    /// The relay sets it itself. The path of the parameter.
    case own(String)
    /// The path of a value that is none of a text, a whole number, a flag, a list and an object, or that has
    /// too many levels.
    case value(String)
  }

  /// - Throws: what is wrong with the first faulty parameter.
  public init(_ object: JSONValue) throws(Fault) {
    guard case .object(let members) = object else { throw .notAnObject }
    for member in members {
      if Self.own.contains(member.name) { throw .own(member.name) }
      guard Self.known.contains(member.name) else { throw .unknown(member.name) }
      // The relay writes metadata to what the session sells, too.
      if member.name.hasSuffix("_data"), member.value["metadata"] != nil {
        throw .own("\(member.name).metadata")
      }
      guard Self.isUsable(member.value, depth: 1) else { throw .value(member.name) }
    }
    self.object = object
  }

  private static func isUsable(_ value: JSONValue, depth: Int) -> Bool {
    guard depth <= depthMax else { return false }
    return switch value {
    case .string, .integer, .bool: true
    case .null, .number: false
    case .array(let elements): elements.allSatisfy { isUsable($0, depth: depth + 1) }
    case .object(let members): members.allSatisfy { isUsable($0.value, depth: depth + 1) }
    }
  }

  /// The fields of a form, as Stripe reads them: `subscription_data[trial_period_days]`, `discounts[0]`.
  /// - Parameters:
  ///   - mode: the session's; parameters of another mode are left out.
  ///   - hasCustomer: whether the session is for a customer whom Stripe knows, who is not created, and only
  ///     who can be updated.
  func fields(for mode: StripeCheckoutSettings.Mode, hasCustomer: Bool = false) -> [(String, String)] {
    guard case .object(let members) = object else { return [] }
    let left = hasCustomer ? "customer_creation" : "customer_update"
    return members.filter { $0.name != left && Self.modes[$0.name] ?? mode == mode }
      .flatMap { Self.fields($0.name, $0.value) }
  }

  private static func fields(_ name: String, _ value: JSONValue) -> [(String, String)] {
    switch value {
    case .string(let text): [(name, text)]
    case .integer(let number): [(name, String(number))]
    case .bool(let flag): [(name, flag ? "true" : "false")]
    case .array(let elements):
      elements.enumerated().flatMap { fields("\(name)[\($0.offset)]", $0.element) }
    case .object(let members): members.flatMap { fields("\(name)[\($0.name)]", $0.value) }
    case .null, .number: []
    }
  }
}
