// The texts of the public pages in French (vous), Spanish (tú), Italian (tu) and Portuguese (European, close
// to Brazilian usage). Pure; called from any thread.

extension PageWords {
  static let french = PageWords(
    backTo: "Revenir à \(.app)",
    backToApp: "Revenir à l’application",
    otherWay: "Rien ne se passe\u{A0}? Ouvrir \(.app) autrement",
    iosStore: "Télécharger \(.app) dans l’App Store",
    androidStore: "Télécharger \(.app) sur Google Play",
    canCloseAndGoBack: "Vous pouvez fermer cette page et revenir à \(.app).",
    canClose: "Vous pouvez fermer cette page.",
    waiting: Message(
      heading: "En attente de confirmation",
      text: "Votre paiement n’est pas encore confirmé. En général, cela ne prend qu’un instant."),
    noPaymentYet: Message(
      heading: "Aucun paiement pour l’instant",
      text: "Aucun paiement n’a été reçu. Vous pouvez recommencer à tout moment dans \(.app)."),
    underWay: Message(
      heading: "Votre paiement est en cours",
      text: """
        Votre commande est terminée. L’arrivée de l’argent peut prendre un peu de temps, quelques jours \
        avec certaines banques. Vous n’avez pas à payer une seconde fois.
        """),
    paid: Message(
      heading: "Paiement reçu",
      text: "Merci\u{A0}! Votre paiement a été reçu. Votre achat apparaîtra dans \(.app)."),
    delivered: Message(
      heading: "Paiement effectué",
      text:
        "Merci\u{A0}! Votre paiement a été reçu et votre achat devrait maintenant être dans \(.app)."
    ),
    undelivered: Message(
      heading: "Paiement reçu",
      text: """
        Votre paiement a été reçu et est encore en cours de traitement\u{A0}; vous n’avez pas à payer une \
        seconde fois. Si votre achat n’apparaît toujours pas plus tard dans \(.app), veuillez contacter \
        l’assistance.
        """),
    unpaid: Message(
      heading: "Paiement non abouti",
      text: "Aucun paiement n’a été reçu. Vous pouvez réessayer dans \(.app)."),
    cancelled: Message(
      heading: "Achat annulé",
      text: """
        Cet achat a été annulé. Si vous avez déjà payé, veuillez contacter l’assistance de l’application \
        \(.app) avant de payer à nouveau.
        """),
    expired: Message(
      heading: "Commande expirée",
      text: """
        Aucun paiement n’a été reçu à temps pour cette commande. Vous pouvez recommencer dans \(.app). Si \
        vous avez déjà payé, vérifiez-y d’abord votre achat.
        """),
    unknown: Message(
      heading: "Revenir à \(.app)",
      text: "Cette page ne sait pas ce qu’est devenu votre paiement. Vous le verrez dans \(.app)."),
    unavailable: Message(
      heading: "Un instant, s’il vous plaît",
      text: """
        L’état de votre paiement ne peut pas être affiché pour le moment. Avant de payer à nouveau, \
        vérifiez dans \(.app).
        """),
    updatesItself: "Cette page s’actualise automatiquement.",
    checkAgain: "Vérifier à nouveau",
    onPhone: "Continuez sur votre téléphone",
    scanCode: "Scannez ce code avec l’appareil photo de votre téléphone pour ouvrir \(.app).",
    codeLabel: "Code QR qui ouvre \(.app)",
    onThisDevice: "Ouvrir \(.app) sur cet appareil",
    support: "Obtenir de l’aide",
    reference: "Référence\u{A0}:",
    item: "Article",
    amount: "Montant",
    date: "Date",
    payment: "Paiement",
    opensItself: "Si l’application ne s’ouvre pas automatiquement, utilisez le bouton.",
    goOnInApp: "Utilisez le bouton pour continuer dans l’application.")

  static let spanish = PageWords(
    backTo: "Volver a \(.app)",
    backToApp: "Volver a la aplicación",
    otherWay: "¿No pasa nada? Abrir \(.app) de otra forma",
    iosStore: "Descargar \(.app) en el App Store",
    androidStore: "Descargar \(.app) en Google Play",
    canCloseAndGoBack: "Puedes cerrar esta página y volver a \(.app).",
    canClose: "Puedes cerrar esta página.",
    waiting: Message(
      heading: "A la espera de confirmación",
      text: "Tu pago aún no se ha confirmado. Normalmente tarda solo un momento."),
    noPaymentYet: Message(
      heading: "Ningún pago por ahora",
      text: "No se ha recibido ningún pago. Puedes volver a empezar en \(.app) cuando quieras."),
    underWay: Message(
      heading: "Tu pago está en camino",
      text: """
        La compra está completada. El dinero puede tardar un poco en llegar; con algunos bancos, unos días. \
        No hace falta que vuelvas a pagar.
        """),
    paid: Message(
      heading: "Pago recibido",
      text: "Gracias. Hemos recibido tu pago. Tu compra aparecerá en \(.app)."),
    delivered: Message(
      heading: "Pago completado",
      text: "Gracias. Hemos recibido tu pago y tu compra ya debería estar en \(.app)."),
    undelivered: Message(
      heading: "Pago recibido",
      text: """
        Hemos recibido tu pago y aún se está procesando; no hace falta que vuelvas a pagar. Si más tarde tu \
        compra sigue sin aparecer en \(.app), ponte en contacto con su servicio de asistencia.
        """),
    unpaid: Message(
      heading: "Pago no completado",
      text: "No se ha recibido ningún pago. Puedes intentarlo de nuevo en \(.app)."),
    cancelled: Message(
      heading: "Compra cancelada",
      text: """
        Esta compra se ha cancelado. Si ya has pagado, ponte en contacto con el servicio de asistencia de \
        \(.app) antes de volver a pagar.
        """),
    expired: Message(
      heading: "Compra caducada",
      text: """
        No se ha recibido a tiempo ningún pago por esta compra. Puedes volver a empezar en \(.app). Si ya \
        has pagado, compruébalo antes allí.
        """),
    unknown: Message(
      heading: "Volver a \(.app)",
      text: "Esta página no conoce el resultado de tu pago. Lo verás en \(.app)."),
    unavailable: Message(
      heading: "Un momento, por favor",
      text: """
        Ahora mismo no se puede mostrar el estado de tu pago. Antes de volver a pagar, compruébalo en \
        \(.app).
        """),
    updatesItself: "Esta página se actualiza sola.",
    checkAgain: "Comprobar de nuevo",
    onPhone: "Continúa en tu teléfono",
    scanCode: "Escanea este código con la cámara de tu teléfono para abrir \(.app).",
    codeLabel: "Código QR que abre \(.app)",
    onThisDevice: "Abrir \(.app) en este dispositivo",
    support: "Obtener ayuda",
    reference: "Referencia:",
    item: "Artículo",
    amount: "Importe",
    date: "Fecha",
    payment: "Pago",
    opensItself: "Si la aplicación no se abre sola, usa el botón.",
    goOnInApp: "Usa el botón para continuar en la aplicación.")

  static let italian = PageWords(
    backTo: "Torna a \(.app)",
    backToApp: "Torna all’app",
    otherWay: "Non succede nulla? Apri \(.app) in un altro modo",
    iosStore: "Scarica \(.app) dall’App Store",
    androidStore: "Scarica \(.app) da Google Play",
    canCloseAndGoBack: "Puoi chiudere questa pagina e tornare a \(.app).",
    canClose: "Puoi chiudere questa pagina.",
    waiting: Message(
      heading: "In attesa di conferma",
      text: "Il tuo pagamento non è ancora confermato. Di solito basta un momento."),
    noPaymentYet: Message(
      heading: "Nessun pagamento finora",
      text: "Non è stato ricevuto alcun pagamento. Puoi ricominciare in \(.app) quando vuoi."),
    underWay: Message(
      heading: "Il tuo pagamento è in corso",
      text: """
        L’acquisto è completato. Prima che il denaro arrivi può passare un po’ di tempo, con alcune banche \
        qualche giorno. Non devi pagare di nuovo.
        """),
    paid: Message(
      heading: "Pagamento ricevuto",
      text: "Grazie! Il tuo pagamento è stato ricevuto. Il tuo acquisto apparirà in \(.app)."),
    delivered: Message(
      heading: "Pagamento completato",
      text: "Grazie! Il tuo pagamento è stato ricevuto e il tuo acquisto dovrebbe ora essere in \(.app)."),
    undelivered: Message(
      heading: "Pagamento ricevuto",
      text: """
        Il tuo pagamento è stato ricevuto ed è ancora in elaborazione; non devi pagare di nuovo. Se più \
        tardi il tuo acquisto manca ancora in \(.app), contatta l’assistenza dell’app.
        """),
    unpaid: Message(
      heading: "Pagamento non completato",
      text: "Non è stato ricevuto alcun pagamento. Puoi riprovare in \(.app)."),
    cancelled: Message(
      heading: "Acquisto annullato",
      text: """
        Questo acquisto è stato annullato. Se hai già pagato, contatta l’assistenza di \(.app) prima di \
        pagare di nuovo.
        """),
    expired: Message(
      heading: "Acquisto scaduto",
      text: """
        Per questo acquisto non è arrivato in tempo alcun pagamento. Puoi ricominciare in \(.app). Se hai \
        già pagato, controlla prima lì.
        """),
    unknown: Message(
      heading: "Torna a \(.app)",
      text: "Questa pagina non conosce l’esito del tuo pagamento. Lo vedrai in \(.app)."),
    unavailable: Message(
      heading: "Un momento, per favore",
      text: """
        Al momento non è possibile mostrare lo stato del tuo pagamento. Prima di pagare di nuovo, controlla \
        in \(.app).
        """),
    updatesItself: "Questa pagina si aggiorna da sola.",
    checkAgain: "Controlla di nuovo",
    onPhone: "Continua sul telefono",
    scanCode: "Inquadra questo codice con la fotocamera del telefono per aprire \(.app).",
    codeLabel: "Codice QR che apre \(.app)",
    onThisDevice: "Apri \(.app) su questo dispositivo",
    support: "Assistenza",
    reference: "Riferimento:",
    item: "Articolo",
    amount: "Importo",
    date: "Data",
    payment: "Pagamento",
    opensItself: "Se l’app non si apre da sola, usa il pulsante.",
    goOnInApp: "Usa il pulsante per continuare nell’app.")

  static let portuguese = PageWords(
    backTo: "Voltar para \(.app)",
    backToApp: "Voltar para a app",
    otherWay: "Nada acontece? Abrir \(.app) de outra forma",
    iosStore: "Obter \(.app) na App Store",
    androidStore: "Obter \(.app) no Google Play",
    canCloseAndGoBack: "Pode fechar esta página e voltar para \(.app).",
    canClose: "Pode fechar esta página.",
    waiting: Message(
      heading: "À espera de confirmação",
      text: "O seu pagamento ainda não foi confirmado. Normalmente, isto demora só um momento."),
    noPaymentYet: Message(
      heading: "Nenhum pagamento até agora",
      text: "Não foi recebido nenhum pagamento. Pode recomeçar em \(.app) a qualquer momento."),
    underWay: Message(
      heading: "O seu pagamento está a caminho",
      text: """
        A compra está concluída. O dinheiro pode demorar um pouco a chegar; com alguns bancos, alguns dias. \
        Não é preciso pagar novamente.
        """),
    paid: Message(
      heading: "Pagamento recebido",
      text: "Obrigado! O seu pagamento foi recebido. A sua compra vai aparecer em \(.app)."),
    delivered: Message(
      heading: "Pagamento concluído",
      text: "Obrigado! O seu pagamento foi recebido e a sua compra já deve estar em \(.app)."),
    undelivered: Message(
      heading: "Pagamento recebido",
      text: """
        O seu pagamento foi recebido e ainda está a ser processado; não é preciso pagar novamente. Se, mais \
        tarde, a sua compra ainda não aparecer em \(.app), procure a assistência da aplicação.
        """),
    unpaid: Message(
      heading: "Pagamento não concluído",
      text: "Não foi recebido nenhum pagamento. Pode tentar novamente em \(.app)."),
    cancelled: Message(
      heading: "Compra cancelada",
      text: """
        Esta compra foi cancelada. Se já pagou, procure a assistência de \(.app) antes de pagar \
        novamente.
        """),
    expired: Message(
      heading: "Compra expirada",
      text: """
        Não foi recebido a tempo nenhum pagamento desta compra. Pode recomeçar em \(.app). Se já pagou, \
        verifique primeiro lá.
        """),
    unknown: Message(
      heading: "Voltar para \(.app)",
      text: "Esta página não sabe o que aconteceu com o seu pagamento. Pode ver isso em \(.app)."),
    unavailable: Message(
      heading: "Um momento, por favor",
      text: """
        Neste momento, não é possível mostrar o estado do seu pagamento. Antes de pagar novamente, \
        verifique em \(.app).
        """),
    updatesItself: "Esta página é atualizada automaticamente.",
    checkAgain: "Verificar novamente",
    onPhone: "Continue no telemóvel",
    scanCode: "Leia este código com a câmara do telemóvel para abrir \(.app).",
    codeLabel: "Código QR que abre \(.app)",
    onThisDevice: "Abrir \(.app) neste dispositivo",
    support: "Obter ajuda",
    reference: "Referência:",
    item: "Artigo",
    amount: "Valor",
    date: "Data",
    payment: "Pagamento",
    opensItself: "Se a app não abrir automaticamente, use o botão.",
    goOnInApp: "Use o botão para continuar na app.")
}
