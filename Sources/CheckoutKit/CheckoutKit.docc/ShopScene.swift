@main struct ShopApp: App {
  @UIApplicationDelegateAdaptor private var delegate: AppDelegate
  @Environment(\.scenePhase) private var phase

  var body: some Scene {
    WindowGroup {
      ShopView(checkout: Shop.checkout).onCheckoutLink { Shop.model.open($0) }
    }
    .onChange(of: phase) { phase in
      Shop.model.setActive(phase == .active)
      if phase == .background { delegate.enterBackground() }
    }
  }
}
