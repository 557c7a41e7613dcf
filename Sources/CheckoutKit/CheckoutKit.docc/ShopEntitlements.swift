/// In your app: what your backend, or the Purchasely SDK, says that the user has bought.
enum Entitlements {
  /// - Returns: whether the purchase is unlocked.
  static func reload() async -> Bool {
    guard let account = URL(string: "https://api.example.com/me/entitlements"),
      let (data, _) = try? await URLSession.shared.data(from: account),
      let names = try? JSONDecoder().decode([String].self, from: data)
    else { return false }
    return names.contains("premium")
  }
}
