import 'dart:async';
import 'dart:io' show Platform;
import 'dart:math';

import 'package:app_links/app_links.dart';
import 'package:flutter/material.dart';
import 'package:http/http.dart' as http;
import 'package:url_launcher/url_launcher.dart';

import 'relay.dart';

Future<void> main() async {
  WidgetsFlutterBinding.ensureInitialized();
  // The id that Purchasely's SDK has now: the account's, or the anonymous one. By the key, another user gets a new screen,
  // which shows nothing of the user before.
  const userId = 'jdo-1';
  final checkouts = await Checkouts.load();
  runApp(MaterialApp(
      home: Shop(checkouts, userId, reloadEntitlements, isAnonymous: false, key: const ValueKey(userId))));
}

Future<bool> reloadEntitlements(String userId) async {
  final answer = await http.get(Uri.https('api.example.com', '/users/$userId/entitlements'));
  return answer.statusCode == 200; // Your backend's answer says whether the purchase is there.
}

class Shop extends StatefulWidget {
  const Shop(this.checkouts, this.userId, this.reloadEntitlements, {required this.isAnonymous, super.key});

  final Checkouts checkouts;

  /// Asks the app's backend for a user's entitlements. Returns whether the purchase is there.
  final Future<bool> Function(String userId) reloadEntitlements;
  final String userId;

  /// Whether the id is the SDK's own: a claim waits for the sign-in.
  final bool isAnonymous;

  @override
  State<Shop> createState() => _ShopState();
}

class _ShopState extends State<Shop> with WidgetsBindingObserver {
  late final StreamSubscription<Uri> _links;
  String _shown = '';
  bool _isOpening = false;
  bool _isChecking = false;
  bool _isInFront = true;
  late String? _claim = widget.checkouts.claimToken;
  String _claimText = 'Add this purchase to your account?';
  bool _isClaiming = false;
  bool _isQuiet = true; // Nothing is shown that the answer of an older checkout may replace.

  @override
  void initState() {
    super.initState();
    WidgetsBinding.instance.addObserver(this);
    // The link that started the app, and all further ones.
    _links = AppLinks().uriLinkStream.listen(_open);
    _askAll(); // After the end of the process there may be a checkout that is paid.
  }

  @override
  void dispose() {
    WidgetsBinding.instance.removeObserver(this);
    _links.cancel();
    super.dispose();
  }

  @override
  void didChangeAppLifecycleState(AppLifecycleState state) {
    _isInFront = state == AppLifecycleState.resumed;
    if (_isInFront) _askAll();
  }

  /// The customer may come back without the link.
  void _askAll() {
    widget.checkouts.postPending();
    _check(null);
    _askOthers();
  }

  void _open(Uri link) {
    final plan = planOf(link);
    final back = returnOf(link);
    final claim = claimOf(link);
    final page = pageOf(link);
    if (plan != null) {
      _buy(plan, 'subscription');
    } else if (back.isReturn) {
      _check(back.id);
    } else if (claim != null) {
      _keepClaim(claim);
    } else if (page != null) {
      launchUrl(page, mode: LaunchMode.externalApplication).ignore();
    }
  }

  void _show(String text, {bool isQuiet = false}) {
    _isQuiet = isQuiet;
    if (mounted) setState(() => _shown = text);
  }

  /// Keeps the link until the customer has signed in and has answered. Null when that is over.
  Future<void> _keepClaim(String? token) async {
    if (mounted) {
      setState(() {
        _claim = token;
        _claimText = 'Add this purchase to your account?';
      });
    }
    await widget.checkouts.keepClaim(token);
  }

  /// The customer wants the purchase in this account.
  Future<void> _addPurchase(String token) async {
    if (_isClaiming) return; // A second tap.
    _isClaiming = true;
    final result = await widget.checkouts.claim(token, widget.userId);
    _isClaiming = false;
    if (result == ClaimResult.retryLater) {
      if (mounted) setState(() => _claimText = 'The purchase could not be added yet. Try again later.');
      return;
    }
    if (token == _claim) await _keepClaim(null);
    _show(switch (result) {
      ClaimResult.claimed ||
      ClaimResult.replay =>
        'The purchase is in your account, and is being activated.',
      ClaimResult.otherUser => 'Another account has this purchase. Sign in there, or contact our support.',
      ClaimResult.expired => 'The link is no longer valid. Please contact our support.',
      ClaimResult.unknown || ClaimResult.retryLater => 'The link is incomplete. Please open it again.',
    });
    final isAdded = result == ClaimResult.claimed || result == ClaimResult.replay;
    if (isAdded && await _isUnlocked()) _show('Thank you! Your purchase is active.');
  }

  /// The [type] is `subscription`, or `checkout_session` for a one-time price.
  Future<void> _buy(String plan, String type) async {
    if (_isOpening) return; // A second tap.
    _isOpening = true;
    _show('Opening the checkout.');
    var isOpen = false;
    try {
      final page = await widget.checkouts.begin({
        // Also presentation_id, placement_id, ab_test_id and ab_test_variant_id, from Purchasely's SDK.
        'stripe_price_id': plan,
        'stripe_object_type': type,
        'original_platform': Platform.isIOS ? 'IOS' : 'ANDROID',
      }, widget.userId);
      isOpen = page != null && await launchUrl(page, mode: LaunchMode.externalApplication);
    } catch (_) {
      // There is no browser.
    } finally {
      _isOpening = false;
      _show(isOpen
          ? 'Finish paying in your browser, then come back here.'
          : 'The checkout cannot be opened. Check your connection and try again.');
    }
  }

  Future<void> _check(String? id) async {
    final open = widget.checkouts.openIds(widget.userId);
    final wanted = id ?? (open.isEmpty ? null : open.last);
    // A link to another customer's checkout is ignored.
    final known = [...open, ...widget.checkouts.expiredIds(widget.userId)];
    if (_isChecking || _isOpening || wanted == null || !known.contains(wanted)) return;
    _isChecking = true;
    _show('Looking for your payment.', isQuiet: true);
    try {
      // The first request answers at once; the others wait for the end, about ten minutes in all.
      var result = await widget.checkouts.progress(wanted);
      for (var round = 0; round < 20 && _isInFront; round += 1) {
        _showProgress(result);
        if (result != CheckoutProgress.pending && result != CheckoutProgress.processing) break;
        result = await widget.checkouts.progress(wanted, wait: 30);
      }
      _showProgress(result);
      if (result == CheckoutProgress.processed) await _confirm(wanted);
    } catch (_) {
      _show('We could not check your payment yet. If you have paid, do not pay again.');
    } finally {
      _isChecking = false;
    }
  }

  /// Asks the app's backend until it reports the purchase, for a minute. The next activation asks again.
  Future<void> _confirm(String id) async {
    for (final pause in [0, 1, 2, 4, 8, 16, 32]) {
      await Future<void>.delayed(Duration(seconds: pause));
      if (!mounted) return;
      if (await _isUnlocked()) {
        await widget.checkouts.discard(id);
        _show('Thank you! Your purchase is active.');
        return;
      }
      if (!_isInFront) return;
    }
  }

  /// A backend that cannot be reached has not reported the purchase.
  Future<bool> _isUnlocked() async {
    try {
      return await widget.reloadEntitlements(widget.userId);
    } catch (_) {
      return false;
    }
  }

  /// Asks for the others once: a receipt may have been replayed, and a payment may have come late.
  Future<void> _askOthers() async {
    final open = widget.checkouts.openIds(widget.userId);
    final others = [...open.take(max(0, open.length - 1)), ...widget.checkouts.expiredIds(widget.userId)];
    for (final id in others) {
      try {
        final result = await widget.checkouts.progress(id);
        if (result == CheckoutProgress.processing && _isQuiet) _showProgress(result);
        if (result == CheckoutProgress.processed && await _isUnlocked()) {
          await widget.checkouts.discard(id);
          if (_isQuiet) _show('Thank you! Your purchase is active.');
        }
      } catch (_) {
        // An error of an old checkout must not hide the last one.
      }
    }
  }

  void _showProgress(CheckoutProgress progress) => _show(_text(progress),
      isQuiet: progress == CheckoutProgress.unpaid || progress == CheckoutProgress.expired);

  String _text(CheckoutProgress progress) => switch (progress) {
        CheckoutProgress.pending => 'We have not received a payment yet.',
        CheckoutProgress.processing =>
          'Thank you! Your order is complete and is being processed. Do not pay again.',
        CheckoutProgress.processed => 'Thank you! We are activating your purchase.',
        CheckoutProgress.unpaid => 'We received no payment, so nothing was bought.',
        CheckoutProgress.expired => 'We received no payment in time. A later payment still counts.',
        CheckoutProgress.unknown =>
          'We do not know this checkout any more. If you have paid, please contact our support.',
      };

  @override
  Widget build(BuildContext context) => Scaffold(
        body: Column(children: [
          Text(_shown),
          if (_claim case final token?)
            if (widget.isAnonymous)
              const Text('Sign in to add your purchase to your account.')
            else ...[
              Text(_claimText),
              FilledButton(onPressed: () => _addPurchase(token), child: const Text('Add the purchase')),
              TextButton(onPressed: () => _keepClaim(null), child: const Text('Not now')),
            ],
          FilledButton(onPressed: () => _buy('price_1MbK', 'subscription'), child: const Text('Buy')),
        ]),
      );
}
