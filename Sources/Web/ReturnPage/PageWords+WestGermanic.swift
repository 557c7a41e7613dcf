// The texts of the public pages in English, German (Sie) and Dutch (je). Pure; called from any thread.

extension PageWords {
  static let english = PageWords(
    backTo: "Back to \(.app)",
    backToApp: "Back to the app",
    otherWay: "Nothing happens? Open \(.app) another way",
    iosStore: "Get \(.app) from the App Store",
    androidStore: "Get \(.app) on Google Play",
    canCloseAndGoBack: "You can close this page and go back to \(.app).",
    canClose: "You can close this page.",
    waiting: Message(
      heading: "Waiting for confirmation",
      text: "Your payment has not been confirmed yet. Usually this takes only a moment."),
    noPaymentYet: Message(
      heading: "No payment so far",
      text: "No payment has been received. You can start again in \(.app) at any time."),
    underWay: Message(
      heading: "Your payment is on its way",
      text: """
        The checkout is complete. It can take a while for the money to arrive, with some banks a few days. \
        You do not need to pay again.
        """),
    paid: Message(
      heading: "Payment received",
      text: "Thank you! Your payment has been received. Your purchase will appear in \(.app)."),
    delivered: Message(
      heading: "Payment completed",
      text: "Thank you! Your payment has been received, and your purchase should now be in \(.app)."),
    undelivered: Message(
      heading: "Payment received",
      text: """
        Your payment has been received and is still being processed; you do not need to pay again. If your \
        purchase is still missing in \(.app) later, please contact its support.
        """),
    unpaid: Message(
      heading: "Payment not completed",
      text: "No payment has been received. You can try again in \(.app)."),
    cancelled: Message(
      heading: "Purchase cancelled",
      text: """
        This purchase was cancelled. If you have already paid, please contact the support of \(.app) before \
        you pay again.
        """),
    expired: Message(
      heading: "Checkout expired",
      text: """
        No payment for this checkout has been received in time. You can start again in \(.app). If you have \
        already paid, look there first.
        """),
    unknown: Message(
      heading: "Your way back to \(.app)",
      text: "This page cannot show the state of your payment. You will find out in \(.app)."),
    unavailable: Message(
      heading: "One moment, please",
      text:
        "The state of your payment cannot be shown right now. Before you pay again, look in \(.app)."),
    updatesItself: "This page updates automatically.",
    checkAgain: "Check again",
    onPhone: "Continue on your phone",
    scanCode: "Scan this code with your phone’s camera to open \(.app).",
    codeLabel: "QR code that opens \(.app)",
    onThisDevice: "Open \(.app) on this device",
    support: "Get help",
    reference: "Reference:",
    item: "Item",
    amount: "Amount",
    date: "Date",
    payment: "Payment",
    opensItself: "If the app does not open automatically, use the button.",
    goOnInApp: "Use the button to continue in the app.")

  static let german = PageWords(
    backTo: "Zurück zu \(.app)",
    backToApp: "Zurück zur App",
    otherWay: "Nichts passiert? \(.app) auf anderem Weg öffnen",
    iosStore: "\(.app) im App Store laden",
    androidStore: "\(.app) bei Google Play laden",
    canCloseAndGoBack: "Sie können diese Seite schließen und zu \(.app) zurückkehren.",
    canClose: "Sie können diese Seite schließen.",
    waiting: Message(
      heading: "Warten auf Bestätigung",
      text: "Ihre Zahlung ist noch nicht bestätigt. Meist dauert das nur einen Augenblick."),
    noPaymentYet: Message(
      heading: "Bisher keine Zahlung",
      text: "Es ist keine Zahlung eingegangen. Sie können jederzeit in \(.app) neu beginnen."),
    underWay: Message(
      heading: "Ihre Zahlung ist unterwegs",
      text: """
        Der Kauf ist abgeschlossen. Bis das Geld eintrifft, kann es etwas dauern, bei manchen Banken einige \
        Tage. Sie müssen nicht noch einmal bezahlen.
        """),
    paid: Message(
      heading: "Zahlung eingegangen",
      text: "Vielen Dank! Ihre Zahlung ist eingegangen. Ihr Kauf wird in \(.app) erscheinen."),
    delivered: Message(
      heading: "Zahlung abgeschlossen",
      text: "Vielen Dank! Ihre Zahlung ist eingegangen, und Ihr Kauf sollte jetzt in \(.app) sein."),
    undelivered: Message(
      heading: "Zahlung eingegangen",
      text: """
        Ihre Zahlung ist eingegangen und wird noch verarbeitet; Sie müssen nicht noch einmal bezahlen. \
        Sollte Ihr Kauf in \(.app) auch später fehlen, wenden Sie sich bitte an den Support.
        """),
    unpaid: Message(
      heading: "Zahlung nicht abgeschlossen",
      text: "Es ist keine Zahlung eingegangen. Sie können es in \(.app) noch einmal versuchen."),
    cancelled: Message(
      heading: "Kauf storniert",
      text: """
        Dieser Kauf wurde storniert. Falls Sie schon bezahlt haben, wenden Sie sich bitte an den Support \
        von \(.app), bevor Sie noch einmal bezahlen.
        """),
    expired: Message(
      heading: "Kaufvorgang abgelaufen",
      text: """
        Für diesen Kauf ist nicht rechtzeitig eine Zahlung eingegangen. Sie können in \(.app) neu beginnen. \
        Falls Sie schon bezahlt haben, sehen Sie bitte zuerst dort nach.
        """),
    unknown: Message(
      heading: "Ihr Weg zurück zu \(.app)",
      text: "Was aus Ihrer Zahlung geworden ist, weiß diese Seite nicht. Sie erfahren es in \(.app)."),
    unavailable: Message(
      heading: "Einen Moment, bitte",
      text: """
        Was aus Ihrer Zahlung geworden ist, lässt sich gerade nicht anzeigen. Bevor Sie noch einmal \
        bezahlen, sehen Sie bitte in \(.app) nach.
        """),
    updatesItself: "Diese Seite aktualisiert sich von selbst.",
    checkAgain: "Noch einmal nachsehen",
    onPhone: "Weiter auf dem Handy",
    scanCode: "Scannen Sie diesen Code mit der Kamera Ihres Handys, um \(.app) zu öffnen.",
    codeLabel: "QR-Code, der \(.app) öffnet",
    onThisDevice: "\(.app) auf diesem Gerät öffnen",
    support: "Hilfe",
    reference: "Referenz:",
    item: "Artikel",
    amount: "Betrag",
    date: "Datum",
    payment: "Zahlung",
    opensItself: "Wenn sich die App nicht von selbst öffnet, benutzen Sie die Schaltfläche.",
    goOnInApp: "Über die Schaltfläche geht es in der App weiter.")

  static let dutch = PageWords(
    backTo: "Terug naar \(.app)",
    backToApp: "Terug naar de app",
    otherWay: "Gebeurt er niets? Open \(.app) op een andere manier",
    iosStore: "Download \(.app) in de App Store",
    androidStore: "Download \(.app) via Google Play",
    canCloseAndGoBack: "Je kunt deze pagina sluiten en teruggaan naar \(.app).",
    canClose: "Je kunt deze pagina sluiten.",
    waiting: Message(
      heading: "Wachten op bevestiging",
      text: "Je betaling is nog niet bevestigd. Meestal duurt dat maar even."),
    noPaymentYet: Message(
      heading: "Nog geen betaling",
      text: "Er is geen betaling ontvangen. Je kunt altijd opnieuw beginnen in \(.app)."),
    underWay: Message(
      heading: "Je betaling is onderweg",
      text: """
        Je aankoop is afgerond. Het kan even duren voordat het geld binnen is, bij sommige banken een paar \
        dagen. Je hoeft niet nog een keer te betalen.
        """),
    paid: Message(
      heading: "Betaling ontvangen",
      text: "Bedankt! Je betaling is ontvangen. Je aankoop verschijnt in \(.app)."),
    delivered: Message(
      heading: "Betaling afgerond",
      text: "Bedankt! Je betaling is ontvangen en je aankoop zou nu in \(.app) moeten staan."),
    undelivered: Message(
      heading: "Betaling ontvangen",
      text: """
        Je betaling is ontvangen en wordt nog verwerkt; je hoeft niet nog een keer te betalen. Ontbreekt je \
        aankoop in \(.app) later nog steeds, neem dan contact op met de klantenservice.
        """
    ),
    unpaid: Message(
      heading: "Betaling niet afgerond",
      text: "Er is geen betaling ontvangen. Je kunt het opnieuw proberen in \(.app)."),
    cancelled: Message(
      heading: "Aankoop geannuleerd",
      text: """
        Deze aankoop is geannuleerd. Heb je al betaald, neem dan contact op met de klantenservice van \
        \(.app) voordat je nog een keer betaalt.
        """),
    expired: Message(
      heading: "Aankoop verlopen",
      text: """
        Voor deze aankoop is niet op tijd een betaling ontvangen. Je kunt opnieuw beginnen in \(.app). Heb \
        je al betaald, kijk dan eerst daar.
        """),
    unknown: Message(
      heading: "Terug naar \(.app)",
      text: "Deze pagina weet niet wat er van je betaling is geworden. Dat zie je in \(.app)."),
    unavailable: Message(
      heading: "Een ogenblik geduld",
      text: """
        Wat er van je betaling is geworden, kan nu niet worden getoond. Kijk in \(.app) voordat je nog een \
        keer betaalt.
        """),
    updatesItself: "Deze pagina wordt vanzelf bijgewerkt.",
    checkAgain: "Opnieuw controleren",
    onPhone: "Ga verder op je telefoon",
    scanCode: "Scan deze code met de camera van je telefoon om \(.app) te openen.",
    codeLabel: "QR-code die \(.app) opent",
    onThisDevice: "Open \(.app) op dit apparaat",
    support: "Hulp nodig?",
    reference: "Referentie:",
    item: "Artikel",
    amount: "Bedrag",
    date: "Datum",
    payment: "Betaling",
    opensItself: "Gaat de app niet vanzelf open, gebruik dan de knop.",
    goOnInApp: "Gebruik de knop om verder te gaan in de app.")
}
