Button("Buy in the browser") { checkout.buy("price_1MbK") }
if let message = checkout.state.message {
  switch checkout.state {
  case .opening, .checking, .activating: ProgressView(message)
  case .confirmed: Label(message, systemImage: "checkmark.circle")
  default: Text(message)
  }
}
