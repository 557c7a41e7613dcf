/// `onOpenURL`, which also gets most universal links.
func open(_ url: URL) {
  if checkout.open(url) { return }
  if case .openInBrowser(let page) = router.receive(url) { checkout.openInBrowser(page) }
  showPending()
}
