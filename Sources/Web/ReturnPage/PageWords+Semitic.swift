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
