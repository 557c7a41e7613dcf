// All texts of the public pages, as a type: a language without one of them does not compile. The texts are
// constants; only the app's name is inserted. Pure; called from any thread.

internal import Formats

/// A text with a place for the app's name, such as `"Back to \(.app)"`.
struct AppPhrase: Sendable, ExpressibleByStringInterpolation {
  /// The placeholders.
  enum Place { case app }

  struct StringInterpolation: StringInterpolationProtocol {
    /// Nil for the app's name.
    fileprivate var pieces: [String?] = []

    init(literalCapacity: Int, interpolationCount: Int) {}
    mutating func appendLiteral(_ words: String) { pieces.append(words) }
    mutating func appendInterpolation(_ place: Place) { pieces.append(nil) }
  }

  private let pieces: [String?]

  init(stringLiteral words: String) { pieces = [words] }
  init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  /// The text with the app's name. Not escaped.
  func text(app: String) -> String { pieces.map { $0 ?? app }.joined() }

  /// The same as markup. The name keeps its own direction (Unicode UAX #9), so it cannot move the words and
  /// marks around it.
  func html(app: String) -> HTML {
    HTML(pieces.map { piece in piece.map { HTML(text: $0) } ?? Tag.bdi { app } })
  }
}

/// The texts of the public pages in one language.
struct PageWords: Sendable {
  /// The outcome of a checkout as a heading, with an explanation.
  struct Message: Sendable {
    /// Also the page's title.
    var heading: AppPhrase
    var text: AppPhrase
  }

  // Links.
  /// The button of a page that has the app's name.
  var backTo: AppPhrase
  /// The button of a page without the app's name, and the heading of pages that only lead back.
  var backToApp: String
  /// The link for when the button does nothing.
  var otherWay: AppPhrase
  var iosStore: AppPhrase
  var androidStore: AppPhrase
  /// For pages without a link to the app.
  var canCloseAndGoBack: AppPhrase
  var canClose: String

  // Outcomes of a checkout.
  /// No event has arrived yet.
  var waiting: Message
  /// The same, for customers who came back through the cancel link.
  var noPaymentYet: Message
  /// The checkout is complete; the payment is pending.
  var underWay: Message
  /// Paid; not delivered to the app yet.
  var paid: Message
  /// Paid and delivered.
  var delivered: Message
  /// Paid, but the delivery failed: an operator resolves that.
  var undelivered: Message
  /// Ended without a payment.
  var unpaid: Message
  /// Cancelled by an operator, whether paid or not.
  var cancelled: Message
  /// Not paid in time.
  var expired: Message
  /// The checkout is unknown.
  var unknown: Message
  /// The state cannot be read at the moment.
  var unavailable: Message
  /// The note below a message that may change.
  var updatesItself: String
  /// The link that does it in a browser that does not run the page's script.
  var checkAgain: String

  // At a computer.
  var onPhone: AppPhrase
  /// How the code is used.
  var scanCode: AppPhrase
  /// What the code is, for readers who do not see it.
  var codeLabel: AppPhrase
  /// The link for those who have the app on this device.
  var onThisDevice: AppPhrase

  // Help, and what was bought.
  var support: String
  /// Before the number that the support needs.
  var reference: String
  var item: String
  var amount: String
  var date: String

  // The pages on the way back from Swedbank Pay.
  /// The title.
  var payment: String
  /// For pages that open the app automatically.
  var opensItself: String
  /// For pages that cannot.
  var goOnInApp: String
}

extension PageLanguage {
  var words: PageWords {
    switch self {
    case .en: .english
    case .de: .german
    case .fr: .french
    case .es: .spanish
    case .it: .italian
    case .pt: .portuguese
    case .nl: .dutch
    case .sv: .swedish
    case .nb: .norwegian
    case .da: .danish
    case .fi: .finnish
    case .ar: .arabic
    case .he: .hebrew
    case .ja: .japanese
    case .ko: .korean
    case .zhHans: .simplifiedChinese
    }
  }
}

// MARK: - Semitic

// The texts of the public pages in Arabic and Hebrew, which are written from right to left. Verbs that would
// address a man or a woman are avoided. Pure; called from any thread.

extension PageWords {
  static let arabic = PageWords(
    backTo: "العودة إلى \(.app)",
    backToApp: "العودة إلى التطبيق",
    otherWay: "لم يحدث شيء؟ فتح \(.app) بطريقة أخرى",
    iosStore: "تنزيل \(.app) من App Store",
    androidStore: "تنزيل \(.app) من Google Play",
    canCloseAndGoBack: "يمكنك إغلاق هذه الصفحة والعودة إلى \(.app).",
    canClose: "يمكنك إغلاق هذه الصفحة.",
    waiting: Message(
      heading: "في انتظار التأكيد",
      text: "لم يتم تأكيد دفعتك بعد. يستغرق ذلك عادةً لحظات قليلة."),
    noPaymentYet: Message(
      heading: "لا توجد دفعة حتى الآن",
      text: "لم نستلم أي دفعة. يمكنك البدء من جديد في \(.app) في أي وقت."),
    underWay: Message(
      heading: "عملية الدفع قيد التنفيذ",
      text: """
        اكتملت عملية الشراء. قد يستغرق وصول المبلغ بعض الوقت، وقد يستغرق لدى بعض البنوك بضعة أيام. لا حاجة \
        إلى الدفع مرة أخرى.
        """),
    paid: Message(
      heading: "تم استلام الدفعة",
      text: "شكرًا لك! تم استلام دفعتك. ستظهر مشترياتك في \(.app)."),
    delivered: Message(
      heading: "اكتمل الدفع",
      text: "شكرًا لك! تم استلام دفعتك، ومن المفترض أن تكون مشترياتك متاحة الآن في \(.app)."),
    undelivered: Message(
      heading: "تم استلام الدفعة",
      text: """
        تم استلام دفعتك وما زالت قيد المعالجة؛ لا حاجة إلى الدفع مرة أخرى. إذا لم تظهر مشترياتك في \(.app) \
        لاحقًا، فيُرجى التواصل مع فريق الدعم.
        """),
    unpaid: Message(
      heading: "لم يكتمل الدفع",
      text: "لم نستلم أي دفعة. يمكنك المحاولة مرة أخرى في \(.app)."),
    cancelled: Message(
      heading: "أُلغيت عملية الشراء",
      text: """
        أُلغيت عملية الشراء هذه. إذا سبق لك الدفع، فيُرجى التواصل مع فريق دعم \(.app) قبل الدفع مرة أخرى.
        """),
    expired: Message(
      heading: "انتهت مهلة الشراء",
      text: """
        لم نستلم أي دفعة لعملية الشراء هذه في الوقت المحدد. يمكنك البدء من جديد في \(.app). \
        إذا سبق لك الدفع، فيُرجى التحقق هناك أولًا.
        """),
    unknown: Message(
      heading: "طريق العودة إلى \(.app)",
      text: "لا يمكن لهذه الصفحة عرض حالة دفعتك. يمكن الاطلاع عليها في \(.app)."),
    unavailable: Message(
      heading: "لحظة من فضلك",
      text: "لا يمكن عرض حالة دفعتك في الوقت الحالي. قبل الدفع مرة أخرى، يُرجى التحقق في \(.app)."),
    updatesItself: "يتم تحديث هذه الصفحة تلقائيًا.",
    checkAgain: "التحقق مرة أخرى",
    onPhone: "المتابعة على هاتفك",
    scanCode: "لفتح \(.app)، يُرجى مسح هذا الرمز بكاميرا هاتفك.",
    codeLabel: "رمز QR لفتح \(.app)",
    onThisDevice: "فتح \(.app) على هذا الجهاز",
    support: "الحصول على المساعدة",
    reference: "الرقم المرجعي:",
    item: "المنتج",
    amount: "المبلغ",
    date: "التاريخ",
    payment: "الدفع",
    opensItself: "إذا لم يُفتح التطبيق تلقائيًا، فيُرجى استخدام الزر.",
    goOnInApp: "يُرجى استخدام الزر للمتابعة في التطبيق.")

  static let hebrew = PageWords(
    backTo: "חזרה אל \(.app)",
    backToApp: "חזרה לאפליקציה",
    otherWay: "לא קרה כלום? פתיחת \(.app) בדרך אחרת",
    iosStore: "הורדת \(.app) מ־App Store",
    androidStore: "הורדת \(.app) מ־Google Play",
    canCloseAndGoBack: "אפשר לסגור את הדף הזה ולחזור אל \(.app).",
    canClose: "אפשר לסגור את הדף הזה.",
    waiting: Message(
      heading: "ממתינים לאישור",
      text: "התשלום שלך עדיין לא אושר. בדרך כלל זה לוקח רק רגע."),
    noPaymentYet: Message(
      heading: "עדיין לא התקבל תשלום",
      text: "לא התקבל תשלום. אפשר להתחיל מחדש בתוך \(.app) בכל עת."),
    underWay: Message(
      heading: "התשלום שלך בדרך",
      text: """
        הרכישה הושלמה. ייתכן שיעבור זמן מה עד שהכסף יגיע, ובחלק מהבנקים כמה ימים. אין צורך לשלם שוב.
        """),
    paid: Message(
      heading: "התשלום התקבל",
      text: "תודה! התשלום שלך התקבל. הרכישה תופיע בתוך \(.app)."),
    delivered: Message(
      heading: "התשלום הושלם",
      text: "תודה! התשלום שלך התקבל, והרכישה אמורה להיות זמינה עכשיו בתוך \(.app)."),
    undelivered: Message(
      heading: "התשלום התקבל",
      text: """
        התשלום שלך התקבל ועדיין נמצא בטיפול; אין צורך לשלם שוב. אם הרכישה לא תופיע בתוך \(.app) גם בהמשך, \
        יש לפנות לתמיכה.
        """),
    unpaid: Message(
      heading: "התשלום לא הושלם",
      text: "לא התקבל תשלום. אפשר לנסות שוב בתוך \(.app)."),
    cancelled: Message(
      heading: "הרכישה בוטלה",
      text: "הרכישה הזאת בוטלה. אם כבר שילמת, יש לפנות לתמיכה של \(.app) לפני תשלום נוסף."),
    expired: Message(
      heading: "הזמן לרכישה תם",
      text: """
        לא התקבל בזמן תשלום עבור הרכישה הזאת. אפשר להתחיל מחדש בתוך \(.app). \
        אם כבר שילמת, כדאי לבדוק שם תחילה.
        """),
    unknown: Message(
      heading: "הדרך חזרה אל \(.app)",
      text: "הדף הזה לא יכול להציג את מצב התשלום שלך. אפשר לראות אותו בתוך \(.app)."),
    unavailable: Message(
      heading: "רק רגע",
      text: "לא ניתן להציג כרגע את מצב התשלום שלך. לפני תשלום נוסף, כדאי לבדוק בתוך \(.app)."),
    updatesItself: "הדף הזה מתעדכן מעצמו.",
    checkAgain: "בדיקה חוזרת",
    onPhone: "ממשיכים בטלפון",
    scanCode: "כדי לפתוח את \(.app), יש לסרוק את הקוד הזה במצלמת הטלפון.",
    codeLabel: "קוד QR שפותח את \(.app)",
    onThisDevice: "פתיחת \(.app) במכשיר הזה",
    support: "קבלת עזרה",
    reference: "מספר אסמכתה:",
    item: "פריט",
    amount: "סכום",
    date: "תאריך",
    payment: "תשלום",
    opensItself: "אם האפליקציה לא נפתחת מעצמה, יש להשתמש בכפתור.",
    goOnInApp: "יש להשתמש בכפתור כדי להמשיך באפליקציה.")
}

// MARK: - East Asian

// The texts of the public pages in Japanese and Korean (polite), and in simplified Chinese. Pure; called from
// any thread.

extension PageWords {
  static let japanese = PageWords(
    backTo: "\(.app)に戻る",
    backToApp: "アプリに戻る",
    otherWay: "開かない場合は、別の方法で\(.app)を開く",
    iosStore: "App Storeで\(.app)を入手",
    androidStore: "Google Playで\(.app)を入手",
    canCloseAndGoBack: "このページを閉じて、\(.app)にお戻りください。",
    canClose: "このページは閉じてかまいません。",
    waiting: Message(
      heading: "お支払いを確認しています",
      text: "お支払いはまだ確認されていません。通常はすぐに完了します。"),
    noPaymentYet: Message(
      heading: "お支払いはまだ完了していません",
      text: "お支払いを受け取っていません。いつでも\(.app)からやり直せます。"),
    underWay: Message(
      heading: "お支払いの処理中です",
      text: "ご注文の手続きは完了しました。入金まで時間がかかることがあり、銀行によっては数日かかります。再度お支払いいただく必要はありません。"),
    paid: Message(
      heading: "お支払いを受け取りました",
      text: "ありがとうございます。お支払いを受け取りました。ご購入内容は\(.app)に表示されます。"),
    delivered: Message(
      heading: "お支払いが完了しました",
      text: "ありがとうございます。お支払いを受け取りました。ご購入内容は\(.app)でご利用いただけるはずです。"),
    undelivered: Message(
      heading: "お支払いを受け取りました",
      text: """
        お支払いを受け取り、現在処理しています。再度お支払いいただく必要はありません。しばらくしてもご購入内容が\(.app)に\
        表示されない場合は、サポートにお問い合わせください。
        """),
    unpaid: Message(
      heading: "お支払いは完了していません",
      text: "お支払いを受け取っていません。\(.app)からもう一度お試しください。"),
    cancelled: Message(
      heading: "ご購入は取り消されました",
      text: "このご購入は取り消されました。すでにお支払い済みの場合は、再度お支払いになる前に\(.app)のサポートにお問い合わせください。"),
    expired: Message(
      heading: "お支払いの期限が切れました",
      text: "期限内にお支払いを受け取れませんでした。\(.app)からやり直せます。すでにお支払い済みの場合は、まず\(.app)をご確認ください。"),
    unknown: Message(
      heading: "\(.app)への戻り方",
      text: "このページではお支払いの状況を表示できません。\(.app)でご確認ください。"),
    unavailable: Message(
      heading: "少々お待ちください",
      text: "現在、お支払いの状況を表示できません。再度お支払いになる前に、\(.app)をご確認ください。"),
    updatesItself: "このページは自動的に更新されます。",
    checkAgain: "もう一度確認する",
    onPhone: "スマートフォンで続ける",
    scanCode: "スマートフォンのカメラでこのコードを読み取ると、\(.app)が開きます。",
    codeLabel: "\(.app)を開くQRコード",
    onThisDevice: "この端末で\(.app)を開く",
    support: "お問い合わせ",
    reference: "お問い合わせ番号：",
    item: "商品",
    amount: "金額",
    date: "日付",
    payment: "お支払い",
    opensItself: "アプリが自動的に開かない場合は、ボタンを押してください。",
    goOnInApp: "ボタンを押して、アプリで続けてください。")

  static let korean = PageWords(
    backTo: "\(.app) 앱으로 돌아가기",
    backToApp: "앱으로 돌아가기",
    otherWay: "열리지 않나요? 다른 방법으로 \(.app) 열기",
    iosStore: "App Store에서 \(.app) 다운로드",
    androidStore: "Google Play에서 \(.app) 다운로드",
    canCloseAndGoBack: "이 페이지를 닫고 \(.app) 앱으로 돌아가셔도 됩니다.",
    canClose: "이 페이지를 닫으셔도 됩니다.",
    waiting: Message(
      heading: "확인을 기다리고 있습니다",
      text: "결제가 아직 확인되지 않았습니다. 보통 잠시면 완료됩니다."),
    noPaymentYet: Message(
      heading: "아직 결제되지 않았습니다",
      text: "접수된 결제가 없습니다. 언제든지 \(.app) 앱에서 다시 시작하실 수 있습니다."),
    underWay: Message(
      heading: "결제를 처리하고 있습니다",
      text: "주문이 완료되었습니다. 입금까지 시간이 걸릴 수 있으며, 은행에 따라 며칠이 걸리기도 합니다. 다시 결제하지 않으셔도 됩니다."),
    paid: Message(
      heading: "결제가 확인되었습니다",
      text: "감사합니다. 결제가 확인되었습니다. 구매하신 상품은 \(.app) 앱에 표시됩니다."),
    delivered: Message(
      heading: "결제가 완료되었습니다",
      text: "감사합니다. 결제가 확인되었으며, 이제 \(.app) 앱에서 구매하신 상품을 이용하실 수 있을 것입니다."),
    undelivered: Message(
      heading: "결제가 확인되었습니다",
      text: """
        결제가 확인되었으며, 구매하신 상품을 처리하고 있습니다. 다시 결제하지 않으셔도 됩니다. 나중에도 구매하신 상품이 \(.app) 앱에 보이지 않으면 \
        고객 지원에 문의해 주세요.
        """),
    unpaid: Message(
      heading: "결제가 완료되지 않았습니다",
      text: "접수된 결제가 없습니다. \(.app) 앱에서 다시 시도하실 수 있습니다."),
    cancelled: Message(
      heading: "구매가 취소되었습니다",
      text: "이 구매는 취소되었습니다. 이미 결제하셨다면 다시 결제하기 전에 \(.app) 고객 지원에 문의해 주세요."),
    expired: Message(
      heading: "결제 시간이 지났습니다",
      text: "정해진 시간 안에 결제가 접수되지 않았습니다. \(.app) 앱에서 다시 시작하실 수 있습니다. 이미 결제하셨다면 먼저 앱을 확인해 주세요."),
    unknown: Message(
      heading: "\(.app) 앱으로 돌아가기",
      text: "이 페이지에서는 결제 상태를 표시할 수 없습니다. \(.app) 앱에서 확인해 주세요."),
    unavailable: Message(
      heading: "잠시만 기다려 주세요",
      text: "지금은 결제 상태를 표시할 수 없습니다. 다시 결제하기 전에 \(.app) 앱을 확인해 주세요."),
    updatesItself: "이 페이지는 자동으로 새로 고쳐집니다.",
    checkAgain: "다시 확인하기",
    onPhone: "휴대전화에서 계속하기",
    scanCode: "휴대전화 카메라로 이 코드를 스캔하면 \(.app) 앱이 열립니다.",
    codeLabel: "\(.app) 앱을 여는 QR 코드",
    onThisDevice: "이 기기에서 \(.app) 열기",
    support: "도움 받기",
    reference: "문의 번호:",
    item: "상품",
    amount: "금액",
    date: "날짜",
    payment: "결제",
    opensItself: "앱이 자동으로 열리지 않으면 버튼을 눌러 주세요.",
    goOnInApp: "버튼을 눌러 앱에서 계속해 주세요.")

  static let simplifiedChinese = PageWords(
    backTo: "返回 \(.app)",
    backToApp: "返回应用",
    otherWay: "没有反应？用其他方式打开 \(.app)",
    iosStore: "在 App Store 下载 \(.app)",
    androidStore: "在 Google Play 下载 \(.app)",
    canCloseAndGoBack: "您可以关闭此页面并返回 \(.app)。",
    canClose: "您可以关闭此页面。",
    waiting: Message(
      heading: "正在等待确认",
      text: "您的付款尚未确认，通常只需片刻。"),
    noPaymentYet: Message(
      heading: "尚未付款",
      text: "未收到任何付款。您可以随时在 \(.app) 中重新开始。"),
    underWay: Message(
      heading: "您的付款正在处理",
      text: "订单已提交。款项到账可能需要一些时间，部分银行需要几天。您无需再次付款。"),
    paid: Message(
      heading: "已收到付款",
      text: "谢谢！我们已收到您的付款。您购买的内容将显示在 \(.app) 中。"),
    delivered: Message(
      heading: "付款已完成",
      text: "谢谢！我们已收到您的付款，您购买的内容现在应该可以在 \(.app) 中使用了。"),
    undelivered: Message(
      heading: "已收到付款",
      text: "我们已收到您的付款，仍在处理中；您无需再次付款。如果之后在 \(.app) 中仍看不到您购买的内容，请联系客服。"),
    unpaid: Message(
      heading: "付款未完成",
      text: "未收到任何付款。您可以在 \(.app) 中重试。"),
    cancelled: Message(
      heading: "购买已取消",
      text: "此次购买已取消。如果您已经付款，请在再次付款前联系 \(.app) 的客服。"),
    expired: Message(
      heading: "付款已超时",
      text: "未在规定时间内收到此次购买的付款。您可以在 \(.app) 中重新开始。如果您已经付款，请先在 \(.app) 中查看。"),
    unknown: Message(
      heading: "返回 \(.app) 的入口",
      text: "此页面无法显示您的付款状态，请在 \(.app) 中查看。"),
    unavailable: Message(
      heading: "请稍候",
      text: "暂时无法显示您的付款状态。再次付款前，请先在 \(.app) 中查看。"),
    updatesItself: "此页面会自动更新。",
    checkAgain: "再次查询",
    onPhone: "在手机上继续",
    scanCode: "用手机相机扫描此二维码即可打开 \(.app)。",
    codeLabel: "用于打开 \(.app) 的二维码",
    onThisDevice: "在此设备上打开 \(.app)",
    support: "获取帮助",
    reference: "查询编号：",
    item: "商品",
    amount: "金额",
    date: "日期",
    payment: "付款",
    opensItself: "如果应用没有自动打开，请点按按钮。",
    goOnInApp: "请点按按钮，在应用中继续。")
}
