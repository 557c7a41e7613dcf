// The texts of the public pages in Swedish, Norwegian (Bokmål), Danish (all du) and Finnish (sinä). Pure;
// called from any thread.

extension PageWords {
  static let swedish = PageWords(
    backTo: "Tillbaka till \(.app)",
    backToApp: "Tillbaka till appen",
    otherWay: "Händer ingenting? Öppna \(.app) på ett annat sätt",
    iosStore: "Hämta \(.app) i App Store",
    androidStore: "Hämta \(.app) på Google Play",
    canCloseAndGoBack: "Du kan stänga den här sidan och gå tillbaka till \(.app).",
    canClose: "Du kan stänga den här sidan.",
    waiting: Message(
      heading: "Väntar på bekräftelse",
      text: "Din betalning är inte bekräftad än. Det brukar bara ta en liten stund."),
    noPaymentYet: Message(
      heading: "Ingen betalning hittills",
      text: "Ingen betalning har kommit in. Du kan börja om i \(.app) när du vill."),
    underWay: Message(
      heading: "Din betalning är på väg",
      text: """
        Köpet är klart. Det kan ta en stund innan pengarna kommer fram, med vissa banker några dagar. Du \
        behöver inte betala igen.
        """),
    paid: Message(
      heading: "Betalningen har kommit in",
      text: "Tack! Din betalning har kommit in. Ditt köp kommer att visas i \(.app)."),
    delivered: Message(
      heading: "Betalningen är klar",
      text: "Tack! Din betalning har kommit in, och ditt köp bör nu finnas i \(.app)."),
    undelivered: Message(
      heading: "Betalningen har kommit in",
      text: """
        Din betalning har kommit in och behandlas fortfarande; du behöver inte betala igen. Om ditt köp \
        fortfarande saknas i \(.app) senare, kontakta kundtjänsten.
        """),
    unpaid: Message(
      heading: "Betalningen slutfördes inte",
      text: "Ingen betalning har kommit in. Du kan försöka igen i \(.app)."),
    cancelled: Message(
      heading: "Köpet är avbrutet",
      text: """
        Det här köpet har avbrutits. Om du redan har betalat, kontakta kundtjänsten för \(.app) innan du \
        betalar igen.
        """),
    expired: Message(
      heading: "Köpets tid har gått ut",
      text: """
        Ingen betalning för det här köpet har kommit in i tid. Du kan börja om i \(.app). Om du redan har \
        betalat, titta först där.
        """),
    unknown: Message(
      heading: "Tillbaka till \(.app)",
      text: "Den här sidan vet inte hur det gick med din betalning. Det ser du i \(.app)."),
    unavailable: Message(
      heading: "Ett ögonblick",
      text:
        "Det går inte att visa just nu hur det gick med din betalning. Titta i \(.app) innan du betalar igen."
    ),
    updatesItself: "Sidan uppdateras av sig själv.",
    checkAgain: "Kontrollera igen",
    onPhone: "Fortsätt i mobilen",
    scanCode: "Skanna koden med mobilens kamera för att öppna \(.app).",
    codeLabel: "QR-kod som öppnar \(.app)",
    onThisDevice: "Öppna \(.app) på den här enheten",
    support: "Få hjälp",
    reference: "Referens:",
    item: "Artikel",
    amount: "Belopp",
    date: "Datum",
    payment: "Betalning",
    opensItself: "Använd knappen om appen inte öppnas av sig själv.",
    goOnInApp: "Använd knappen för att fortsätta i appen.")

  static let norwegian = PageWords(
    backTo: "Tilbake til \(.app)",
    backToApp: "Tilbake til appen",
    otherWay: "Skjer det ingenting? Åpne \(.app) på en annen måte",
    iosStore: "Hent \(.app) i App Store",
    androidStore: "Hent \(.app) på Google Play",
    canCloseAndGoBack: "Du kan lukke denne siden og gå tilbake til \(.app).",
    canClose: "Du kan lukke denne siden.",
    waiting: Message(
      heading: "Venter på bekreftelse",
      text: "Betalingen din er ikke bekreftet ennå. Det tar vanligvis bare et øyeblikk."),
    noPaymentYet: Message(
      heading: "Ingen betaling så langt",
      text: "Ingen betaling er mottatt. Du kan begynne på nytt i \(.app) når du vil."),
    underWay: Message(
      heading: "Betalingen din er på vei",
      text: """
        Kjøpet er fullført. Det kan ta litt tid før pengene kommer fram, med noen banker et par dager. Du \
        trenger ikke å betale på nytt.
        """),
    paid: Message(
      heading: "Betalingen er mottatt",
      text: "Takk! Betalingen din er mottatt. Kjøpet ditt vil vises i \(.app)."),
    delivered: Message(
      heading: "Betalingen er fullført",
      text: "Takk! Betalingen din er mottatt, og kjøpet ditt bør nå være i \(.app)."),
    undelivered: Message(
      heading: "Betalingen er mottatt",
      text: """
        Betalingen din er mottatt og er fortsatt under behandling; du trenger ikke å betale på nytt. Hvis \
        kjøpet fortsatt mangler i \(.app) senere, kan du kontakte kundeservice.
        """),
    unpaid: Message(
      heading: "Betalingen ble ikke fullført",
      text: "Ingen betaling er mottatt. Du kan prøve igjen i \(.app)."),
    cancelled: Message(
      heading: "Kjøpet er avbrutt",
      text: """
        Dette kjøpet er avbrutt. Hvis du allerede har betalt, bør du kontakte kundeservice for \(.app) før \
        du betaler på nytt.
        """),
    expired: Message(
      heading: "Kjøpet er utløpt",
      text: """
        Ingen betaling for dette kjøpet er mottatt i tide. Du kan begynne på nytt i \(.app). Hvis du \
        allerede har betalt, bør du se der først.
        """),
    unknown: Message(
      heading: "Tilbake til \(.app)",
      text: "Denne siden vet ikke hvordan det gikk med betalingen din. Det ser du i \(.app)."),
    unavailable: Message(
      heading: "Et øyeblikk",
      text: """
        Det kan ikke vises akkurat nå hvordan det gikk med betalingen din. Se i \(.app) før du betaler på \
        nytt.
        """),
    updatesItself: "Siden oppdateres av seg selv.",
    checkAgain: "Sjekk igjen",
    onPhone: "Fortsett på mobilen",
    scanCode: "Skann koden med mobilkameraet for å åpne \(.app).",
    codeLabel: "QR-kode som åpner \(.app)",
    onThisDevice: "Åpne \(.app) på denne enheten",
    support: "Få hjelp",
    reference: "Referanse:",
    item: "Vare",
    amount: "Beløp",
    date: "Dato",
    payment: "Betaling",
    opensItself: "Bruk knappen hvis appen ikke åpnes av seg selv.",
    goOnInApp: "Bruk knappen for å fortsette i appen.")

  static let danish = PageWords(
    backTo: "Tilbage til \(.app)",
    backToApp: "Tilbage til appen",
    otherWay: "Sker der ikke noget? Åbn \(.app) på en anden måde",
    iosStore: "Hent \(.app) i App Store",
    androidStore: "Hent \(.app) på Google Play",
    canCloseAndGoBack: "Du kan lukke denne side og gå tilbage til \(.app).",
    canClose: "Du kan lukke denne side.",
    waiting: Message(
      heading: "Venter på bekræftelse",
      text: "Din betaling er ikke bekræftet endnu. Det tager som regel kun et øjeblik."),
    noPaymentYet: Message(
      heading: "Ingen betaling indtil nu",
      text: "Der er ikke modtaget nogen betaling. Du kan begynde forfra i \(.app), når du vil."),
    underWay: Message(
      heading: "Din betaling er på vej",
      text: """
        Købet er gennemført. Der kan gå lidt tid, før pengene når frem, med nogle banker et par dage. Du \
        behøver ikke at betale igen.
        """),
    paid: Message(
      heading: "Betalingen er modtaget",
      text: "Tak! Din betaling er modtaget. Dit køb vil blive vist i \(.app)."),
    delivered: Message(
      heading: "Betalingen er gennemført",
      text: "Tak! Din betaling er modtaget, og dit køb burde nu være i \(.app)."),
    undelivered: Message(
      heading: "Betalingen er modtaget",
      text: """
        Din betaling er modtaget og er stadig under behandling; du behøver ikke at betale igen. Hvis dit \
        køb stadig mangler i \(.app) senere, så kontakt kundeservice.
        """),
    unpaid: Message(
      heading: "Betalingen blev ikke gennemført",
      text: "Der er ikke modtaget nogen betaling. Du kan prøve igen i \(.app)."),
    cancelled: Message(
      heading: "Købet er annulleret",
      text: """
        Dette køb er annulleret. Hvis du allerede har betalt, så kontakt kundeservice for \(.app), før du \
        betaler igen.
        """),
    expired: Message(
      heading: "Købet er udløbet",
      text: """
        Der er ikke modtaget nogen betaling for dette køb i tide. Du kan begynde forfra i \(.app). Hvis du \
        allerede har betalt, så se efter der først.
        """),
    unknown: Message(
      heading: "Tilbage til \(.app)",
      text: "Denne side ved ikke, hvordan det gik med din betaling. Det kan du se i \(.app)."),
    unavailable: Message(
      heading: "Et øjeblik",
      text: """
        Det kan ikke vises lige nu, hvordan det gik med din betaling. Se efter i \(.app), før du betaler \
        igen.
        """),
    updatesItself: "Siden opdateres af sig selv.",
    checkAgain: "Tjek igen",
    onPhone: "Fortsæt på mobilen",
    scanCode: "Scan koden med mobilens kamera for at åbne \(.app).",
    codeLabel: "QR-kode, der åbner \(.app)",
    onThisDevice: "Åbn \(.app) på denne enhed",
    support: "Få hjælp",
    reference: "Reference:",
    item: "Vare",
    amount: "Beløb",
    date: "Dato",
    payment: "Betaling",
    opensItself: "Brug knappen, hvis appen ikke åbner af sig selv.",
    goOnInApp: "Brug knappen for at fortsætte i appen.")

  /// The app's name is not inflected: it follows a word that is.
  static let finnish = PageWords(
    backTo: "Takaisin sovellukseen \(.app)",
    backToApp: "Takaisin sovellukseen",
    otherWay: "Eikö mitään tapahdu? Avaa \(.app) toisella tavalla",
    iosStore: "Lataa \(.app) App Storesta",
    androidStore: "Lataa \(.app) Google Playsta",
    canCloseAndGoBack: "Voit sulkea tämän sivun ja palata sovellukseen \(.app).",
    canClose: "Voit sulkea tämän sivun.",
    waiting: Message(
      heading: "Odotetaan vahvistusta",
      text: "Maksuasi ei ole vielä vahvistettu. Yleensä se kestää vain hetken."),
    noPaymentYet: Message(
      heading: "Ei maksua toistaiseksi",
      text: "Maksua ei ole saatu. Voit aloittaa uudelleen sovelluksessa \(.app) milloin vain."),
    underWay: Message(
      heading: "Maksusi on matkalla",
      text: """
        Osto on tehty. Rahan saapuminen voi kestää hetken, joillakin pankeilla muutaman päivän. Sinun ei \
        tarvitse maksaa uudelleen.
        """),
    paid: Message(
      heading: "Maksu on saatu",
      text: "Kiitos! Maksusi on saatu. Ostoksesi tulee näkyviin sovelluksessa \(.app)."),
    delivered: Message(
      heading: "Maksu on suoritettu",
      text: "Kiitos! Maksusi on saatu, ja ostoksesi pitäisi nyt näkyä sovelluksessa \(.app)."),
    undelivered: Message(
      heading: "Maksu on saatu",
      text: """
        Maksusi on saatu ja sitä käsitellään vielä; sinun ei tarvitse maksaa uudelleen. Jos ostosi puuttuu \
        sovelluksesta \(.app) myöhemminkin, ota yhteyttä asiakaspalveluun.
        """),
    unpaid: Message(
      heading: "Maksua ei suoritettu",
      text: "Maksua ei ole saatu. Voit yrittää uudelleen sovelluksessa \(.app)."),
    cancelled: Message(
      heading: "Osto on peruttu",
      text: """
        Tämä osto on peruttu. Jos olet jo maksanut, ota yhteyttä sovelluksen \(.app) asiakaspalveluun ennen \
        kuin maksat uudelleen.
        """),
    expired: Message(
      heading: "Osto on vanhentunut",
      text: """
        Tästä ostosta ei ole saatu maksua ajoissa. Voit aloittaa uudelleen sovelluksessa \(.app). Jos olet \
        jo maksanut, tarkista asia ensin sieltä.
        """),
    unknown: Message(
      heading: "Takaisin sovellukseen \(.app)",
      text: "Tämä sivu ei tiedä, miten maksullesi kävi. Näet sen sovelluksessa \(.app)."),
    unavailable: Message(
      heading: "Hetki vain",
      text: """
        Maksusi tilaa ei voida juuri nyt näyttää. Tarkista asia sovelluksessa \(.app) ennen kuin maksat \
        uudelleen.
        """),
    updatesItself: "Sivu päivittyy itsestään.",
    checkAgain: "Tarkista uudelleen",
    onPhone: "Jatka puhelimella",
    scanCode: "Skannaa koodi puhelimen kameralla, niin \(.app) avautuu.",
    codeLabel: "QR-koodi, joka avaa sovelluksen \(.app)",
    onThisDevice: "Avaa \(.app) tällä laitteella",
    support: "Hae apua",
    reference: "Viite:",
    item: "Tuote",
    amount: "Summa",
    date: "Päivämäärä",
    payment: "Maksu",
    opensItself: "Jos sovellus ei avaudu itsestään, käytä painiketta.",
    goOnInApp: "Jatka sovelluksessa painikkeesta.")
}
