import 'dart:async';
import 'dart:convert';
import 'dart:io' show HttpDate, Platform;
import 'dart:math';

import 'package:http/http.dart' as http;
import 'package:shared_preferences/shared_preferences.dart';

const host = 'pay.example.com';
const browserHost = 'back.pay.example.com'; // Another name of the relay, which no app claims.
const scheme = 'exampleapp';
final app = Platform.isIOS ? 'ios' : 'android'; // The apps of the relay.
const clientKey = "the app's client key";
// As links.checkout in the relay's configuration.
const pages = {'price_1MbK': 'https://buy.stripe.com/example'};

/// What authenticates a post, before which it is called. For users who sign in, return
/// `{'Authorization': 'Bearer $token'}`, and renew the token here.
Future<Map<String, String>> credential() async => {'X-API-KEY': clientKey};

/// `ctx_` and 26 characters of Crockford's base32: 48 bits of time, 80 random bits.
String makeContextId(int nowMillis) {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  final random = Random.secure();
  var time = '';
  for (var count = 0, rest = nowMillis; count < 10; count += 1, rest ~/= 32) {
    time = alphabet[rest % 32] + time;
  }
  return 'ctx_$time${[for (var count = 0; count < 16; count += 1) alphabet[random.nextInt(32)]].join()}';
}

/// JSON in base64.
String plyContext(Map<String, String> context) => base64Encode(utf8.encode(jsonEncode(context)));

/// A checkout that is not over.
class Checkout {
  Checkout(this.id, this.userId, this.context, this.begunAt,
      {this.attempts = 0, this.nextAt = 0, this.isExpired = false});

  factory Checkout.fromJson(Map<String, dynamic> json) =>
      Checkout(json['id'] as String, json['userId'] as String, json['context'] as String?, json['begunAt'] as int,
          attempts: json['attempts'] as int? ?? 0,
          nextAt: json['nextAt'] as int? ?? 0,
          isExpired: json['isExpired'] == true);

  String id;
  final String userId;

  /// Until the relay has it.
  String? context;
  final int begunAt;

  /// Posts that failed.
  int attempts;

  /// When the next post is due.
  int nextAt;

  /// No payment came in time; a later one is still possible.
  bool isExpired;

  Map<String, dynamic> toJson() => {
        'id': id,
        'userId': userId,
        'context': context,
        'begunAt': begunAt,
        'attempts': attempts,
        'nextAt': nextAt,
        'isExpired': isExpired,
      };
}

typedef Answer = ({int status, Map<String, dynamic> body, int retryAfter});

enum CheckoutProgress { pending, processing, processed, unpaid, expired, unknown }

/// What came of a claim: `replay` if this user had claimed it before, `retryLater` if the relay could not decide
/// yet.
enum ClaimResult { claimed, replay, otherUser, expired, unknown, retryLater }

/// The checkouts of the app, in the order in which they began.
class Checkouts {
  Checkouts._(this._store, this._open, this._clockOffset);

  /// A storage that is damaged or fails must not stop a sale: the list then begins again, or is in memory only.
  static Future<Checkouts> load() async {
    final SharedPreferences store;
    try {
      store = await SharedPreferences.getInstance();
    } catch (_) {
      return Checkouts._(null, [], 0);
    }
    final open = <Checkout>[];
    var offset = 0;
    try {
      offset = store.getInt('checkoutkit.clockOffset') ?? 0;
      for (final item in jsonDecode(store.getString('checkoutkit.checkouts') ?? '[]') as List<dynamic>) {
        try {
          open.add(Checkout.fromJson(item as Map<String, dynamic>));
        } catch (_) {
          // One damaged entry; the others are kept.
        }
      }
    } catch (_) {
      // The list begins again.
    }
    return Checkouts._(store, open, offset);
  }

  final SharedPreferences? _store;
  final List<Checkout> _open;

  /// Milliseconds by which the relay's clock is ahead of the device's.
  int _clockOffset;

  static int get _now => DateTime.now().millisecondsSinceEpoch;

  /// A user's checkouts. What another user of this device bought is not this one's to see.
  List<String> openIds(String userId) => _ids(userId, isExpired: false);

  /// Those for which no payment came in time, which a later one can still change.
  List<String> expiredIds(String userId) => _ids(userId, isExpired: true);

  List<String> _ids(String userId, {required bool isExpired}) => [
        for (final checkout in _open)
          if (checkout.userId == userId && checkout.isExpired == isExpired) checkout.id,
      ];

  Future<void> _save() async {
    while (_open.length > 50) {
      _open.removeAt(0);
    }
    try {
      await _store?.setString('checkoutkit.checkouts', jsonEncode(_open));
    } catch (_) {
      // In memory only.
    }
  }

  Future<void> discard(String id) async {
    _open.removeWhere((checkout) => checkout.id == id);
    await _save();
  }

  /// For a user who deletes the account.
  Future<void> forget(String userId) async {
    _open.removeWhere((checkout) => checkout.userId == userId);
    await _save();
  }

  /// The token of the claim link that the customer opened, until it was used or declined. It is a secret.
  Future<void> keepClaim(String? token) async {
    _claim = token;
    try {
      const key = 'checkoutkit.claim';
      token == null ? await _store?.remove(key) : await _store?.setString(key, token);
    } catch (_) {
      // In memory only.
    }
  }

  String? get claimToken {
    try {
      return _claim ?? _store?.getString('checkoutkit.claim');
    } catch (_) {
      return null;
    }
  }

  String? _claim;

  /// Adds the purchase of a claim link to a user's account. Ask the customer first: the link may have been forwarded.
  Future<ClaimResult> claim(String token, String userId) async {
    try {
      final (:status, :body, retryAfter: _) =
          await _answer(_send(userId, 'claims', {'token': token}), const Duration(seconds: 30));
      if ((status == 200 || status == 201) && body['status_url'] is String) {
        return body['replay'] == true ? ClaimResult.replay : ClaimResult.claimed;
      }
      if (_isProblem(body, 'claimed-by-another-user')) return ClaimResult.otherUser;
      if (status == 410 && _isProblem(body)) return ClaimResult.expired;
      return _isProblem(body, 'unknown-claim') ? ClaimResult.unknown : ClaimResult.retryLater;
    } catch (_) {
      return ClaimResult.retryLater;
    }
  }

  /// Whether the relay itself sent a problem, not a captive portal, a firewall or a proxy; of this type if one is given.
  static bool _isProblem(Map<String, dynamic> body, [String name = '.+']) =>
      RegExp('^urn:receiptd:problem:$name\$').hasMatch('${body['type']}');

  static Future<http.Response> _send(String userId, String endpoint, Map<String, String?> body) async =>
      http.post(Uri.parse('https://$host/v1/$app/users/${Uri.encodeComponent(userId)}/$endpoint'),
          headers: {
            ...await credential(),
            'Accept': 'application/json',
            'Content-Type': 'application/json',
          },
          body: jsonEncode(body));

  Future<Answer> _answer(Future<http.Response> response, Duration time) async {
    final answer = await response.timeout(time);
    var body = <String, dynamic>{};
    try {
      body = jsonDecode(utf8.decode(answer.bodyBytes)) as Map<String, dynamic>;
    } catch (_) {
      // Not the relay's.
    }
    _learnTime(answer, body);
    return (
      status: answer.statusCode,
      body: body,
      retryAfter: int.tryParse(answer.headers['retry-after'] ?? '') ?? 0,
    );
  }

  /// The relay refuses an id of a clock that is an hour ahead, so ids are made by the relay's clock.
  void _learnTime(http.Response answer, Map<String, dynamic> body) {
    if (!(answer.statusCode < 300 ? body['context_id'] is String : _isProblem(body))) return;
    try {
      final offset = HttpDate.parse(answer.headers['date'] ?? '').millisecondsSinceEpoch - _now;
      if ((offset - _clockOffset).abs() <= 60000) return;
      _clockOffset = offset;
      _store?.setInt('checkoutkit.clockOffset', offset).ignore();
    } catch (_) {
      // No date.
    }
  }

  Future<Answer> _post(Checkout checkout, String endpoint, int seconds) async {
    final watch = Stopwatch()..start();
    Future<Answer> send(Map<String, String?> body) =>
        _answer(_send(checkout.userId, endpoint, body), Duration(seconds: seconds) - watch.elapsed);
    final context = checkout.context;
    final answer = await send({'id': checkout.id, 'ply_context': context});
    // Without the id, the relay makes one.
    return _isProblem(answer.body, 'context-id-time') ? await send({'ply_context': context}) : answer;
  }

  static bool _isPosted(Answer answer) =>
      (answer.status == 200 || answer.status == 201) && answer.body['context_id'] is String;

  /// Counts a post that the relay did not take, and schedules the next one. A part is random, so that apps do not post together when the relay is back.
  static void _postLater(Checkout checkout, [int retryAfter = 0]) {
    checkout.attempts += 1;
    final doubled = min(3600, 30 * pow(2, min(7, checkout.attempts - 1)));
    final pause = doubled * (1 - Random().nextDouble() / 5);
    checkout.nextAt = _now + (1000 * max(pause, min(86400, retryAfter))).round();
  }

  /// Begins a checkout, for one tap, and returns the page to open. The sale never waits longer than 5 s: then the
  /// app's own page opens, with an id that the relay gets later. Null when there is no page, and for a user id that
  /// no relay accepts.
  Future<Uri?> begin(Map<String, String> context, String userId) async {
    if (!_isIdentifier(userId) || userId == '.' || userId == '..') return null;
    final now = _now;
    final checkout = Checkout(makeContextId(now + _clockOffset), userId, plyContext(context), now);
    final ownPage = checkoutPage(pages[context['stripe_price_id']] ?? '', checkout.id);
    _open.add(checkout);
    await _save();
    try {
      final answer = await _post(checkout, 'checkout', 5);
      final url = answer.body['checkout_url'];
      final page = url is String ? Uri.tryParse(url) : null;
      if (_isPosted(answer) && page != null && page.isScheme('https')) {
        checkout.id = answer.body['context_id'] as String; // The relay may have made the id itself.
        checkout.context = null;
        await _save();
        return page;
      }
      _postLater(checkout, answer.retryAfter);
      await _save();
    } catch (_) {
      // No answer: the context is posted when the customer is back, without a pause.
    }
    if (ownPage != null) return Uri.parse(ownPage);
    await discard(checkout.id);
    return null;
  }

  /// Posts what the relay does not have yet. Call it at the start and when the app comes to the front.
  Future<void> postPending() => _posting ??= _postAll().whenComplete(() {
        _posting = null;
      });

  Future<void>? _posting;

  Future<void> _postAll() async {
    for (final checkout in [..._open]) {
      if (!_open.contains(checkout)) continue; // It was discarded meanwhile.
      final age = Duration(milliseconds: _now - checkout.begunAt);
      if (checkout.context == null) {
        if (age.inDays >= 30) await discard(checkout.id);
        continue;
      }
      final wait = checkout.nextAt - _now;
      if (wait > 0 && wait <= 86400000) continue;
      try {
        final answer = await _post(checkout, 'contexts', 30);
        final isRefusal = _isProblem(answer.body) && answer.status >= 400 && answer.status < 500;
        // A new token or another configuration may end a refusal. A clock alone, which may be wrong, drops nothing.
        final passing = age.inDays >= 7 ? [408, 429] : [401, 403, 404, 408, 429];
        if (_isPosted(answer)) {
          checkout.id = answer.body['context_id'] as String;
          checkout.context = null;
        } else if (isRefusal && !passing.contains(answer.status)) {
          // The relay would refuse it again, or was asked once more after a week; the customer may still pay.
          checkout.context = null;
        } else {
          _postLater(checkout, answer.retryAfter);
        }
        await _save();
      } catch (_) {
        _postLater(checkout);
        await _save();
        return; // No network: the others the next time.
      }
    }
  }

  /// The state of a checkout. The id is the secret, so the request has no key. Throws without an answer, which says
  /// nothing about the payment. The relay may [wait] up to 30 s for the end.
  Future<CheckoutProgress> progress(String id, {int wait = 0}) async {
    await postPending();
    final url = Uri.https(host, '/v1/$app/contexts/$id', {'wait': '$wait'});
    final (:status, :body, retryAfter: _) = await _answer(http.get(url), Duration(seconds: wait + 15));
    // Any other 404 is of a proxy, or of a wrong address.
    if (status == 404 && _isProblem(body, 'unknown-context')) {
      if (_open.any((checkout) => checkout.id == id && checkout.context != null)) {
        throw http.ClientException('The context is not posted yet.', url);
      }
      await discard(id);
      return CheckoutProgress.unknown;
    }
    final state = body['state'];
    // An older relay does not send `paid`: a customer who paid must not read that nothing was bought.
    final paid = body['paid'] ?? const ['paid', 'failed'].contains(state);
    if (status != 200 || state is! String || paid is! bool) {
      throw http.ClientException('The relay answered $status.', url);
    }
    final result = state == 'delivered'
        ? CheckoutProgress.processed
        : paid
            ? CheckoutProgress.processing
            : state == 'expired'
                ? CheckoutProgress.expired
                : state == 'failed' || state == 'cancelled'
                    ? CheckoutProgress.unpaid
                    : CheckoutProgress.pending;
    if (result == CheckoutProgress.unpaid) {
      await discard(id);
      return result;
    }
    for (final checkout in _open.where((checkout) => checkout.id == id)) {
      checkout.isExpired = result == CheckoutProgress.expired;
    }
    await _save();
    return result;
  }
}

/// The decoded text; null for broken escapes. A plus is a plus.
String? _decoded(String text) {
  try {
    return Uri.decodeComponent(text);
  } catch (_) {
    return null;
  }
}

/// The first value of this name; null without one, and empty for broken escapes.
String? _value(Uri link, String name) {
  for (final field in link.query.split('&')) {
    final end = field.contains('=') ? field.indexOf('=') : field.length;
    if (_decoded(field.substring(0, end)) == name) {
      return _decoded(field.substring(min(end + 1, field.length))) ?? '';
    }
  }
  return null;
}

bool _isIdentifier(String text) => RegExp(r'^[^\x00-\x1f\x7f-\x9f]{1,255}$').hasMatch(text);

/// The path of a link to the relay's host; empty for other links.
String _ownPath(Uri link) {
  final isOwn = (link.isScheme('https') || link.isScheme(scheme)) && link.host == host;
  return isOwn && !link.hasPort && link.userInfo.isEmpty ? link.path.replaceFirst(RegExp(r'/$'), '') : '';
}

/// A checkout page with a context's id; null if it is not a web page, or has an id already.
String? checkoutPage(String page, String id) {
  final url = Uri.tryParse(page);
  if (url == null || !url.isScheme('https') || url.host.isEmpty) return null;
  if (_value(url, 'client_reference_id') != null) return null;
  final address = page.split('#').first;
  final separator = !address.contains('?') ? '?' : (RegExp(r'[?&]$').hasMatch(address) ? '' : '&');
  return '$address${separator}client_reference_id=$id${page.substring(address.length)}';
}

/// The plan of the paywall's link, `exampleapp://web_checkout/?plan_id=…`; null for other links.
String? planOf(Uri link) {
  if (!link.isScheme(scheme) || link.host != 'web_checkout' || !['', '/'].contains(link.path)) return null;
  if (link.hasPort || link.userInfo.isNotEmpty) return null;
  final plan = _value(link, 'plan_id');
  return plan != null && _isIdentifier(plan) ? plan : null;
}

/// The token of a claim's link, of a purchase without an account; null for other links.
String? claimOf(Uri link) =>
    RegExp('^/v1/$app/claim/(clm_[0-9A-HJKMNP-TV-Z]{26})\$').firstMatch(_ownPath(link))?.group(1);

/// The address under which to open a page that no route knows. Android gives a link of the app's own host to the app
/// again, so it opens under another name of the server, which no app claims. Null for links that are not web pages.
Uri? pageOf(Uri link) {
  if (!link.isScheme('https') && !link.isScheme('http')) return null;
  if (link.host != host) return link;
  return link.hasPort || link.userInfo.isNotEmpty ? null : link.replace(scheme: 'https', host: browserHost);
}

/// Whether a link is the way back, and its checkout; without one it is the checkout that began last. Afterpay adds the
/// token of its checkout, to capture it.
({bool isReturn, String? id, String? orderToken}) returnOf(Uri link) {
  final id = _value(link, 'context_id');
  final session = _value(link, 'session_id');
  final order = _value(link, 'orderToken');
  final isValid = (id == null || RegExp(r'^ctx_[0-7][0-9A-HJKMNP-TV-Z]{25}$').hasMatch(id)) &&
      (session == null || _isIdentifier(session)) &&
      (order == null || RegExp(r'^(?!\.{1,2}$)[!-.0-~]{1,255}$').hasMatch(order));
  return (isReturn: isValid && _ownPath(link) == '/v1/$app/return', id: id, orderToken: order);
}
