// The checkouts of one user, for the app's screen: the same as CheckoutKit's `CheckoutSession`.

import {makeContext} from './context.js';
import {readLink} from './links.js';
import {Checkouts} from './relay.js';

const pauses = [1, 2, 4, 8, 16, 32];
// What a screen shows of a progress and of a claim's result, where the names differ.
const progressStates = {unpaid: 'notPaid', expired: 'late'};
const claimStates = {claimed: 'added', replay: 'added', retryLater: 'later'};
const sleep = seconds => new Promise(done => setTimeout(done, seconds * 1000));

export class CheckoutSession {
  /**
   * 'none', 'opening', 'notOpened', 'inBrowser', 'checking', 'unchecked', 'pending', 'processing', 'activating',
   * 'confirmed', 'notPaid', 'late' or 'unknown'. Only 'confirmed' is unlocked.
   */
  state = 'none';
  /**
   * 'none', 'signIn', 'ask', 'adding', 'added', 'later', 'otherUser', 'expired' or 'unknown': ask at 'ask'
   * and 'later'.
   */
  claim = 'none';
  onChange = () => {};
  #isOpening = false;
  #isChecking = false;
  #isActive = false;
  #isEnded = false;

  /**
   * @param configuration
   *   host: the relay's host, which opens the app; browserHost: another name of it, which does not; app: the
   *   app's name at the relay; scheme: the app's URL scheme; headers: the client key or the user's token, or
   *   a function that is called before each post; pages: the page of each price, as `links.checkout` in the
   *   relay's configuration; userId: the id in the Purchasely SDK; isAnonymous: whether it is the SDK's own,
   *   for which claims wait; attributes(): the SDK's built-in attributes and `original_platform`, or a
   *   promise of them; storage: getItem and setItem, with promises; openPage(url): opens the browser;
   *   reloadEntitlements(userId): asks the app's backend, and returns whether the purchase is there.
   */
  constructor(configuration) {
    Object.assign(this, configuration);
    this.checkouts = new Checkouts(configuration);
  }

  /** The user has changed: this session shows nothing any more. Create another one. */
  end() {
    this.#isEnded = true;
    this.#isActive = false;
    this.onChange = () => {};
  }

  #show(state) {
    this.state = state;
    this.onChange();
  }

  /** The SDK must not stop a sale, nor delay it for more than a second. */
  async #attributes() {
    let timer;
    const late = new Promise(done => (timer = setTimeout(() => done({}), 1000)));
    try {
      return (await Promise.race([this.attributes(), late])) || {};
    } catch (failure) {
      return {};
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * The paywall's button was tapped.
   *
   * @param type 'checkout_session' for a one-time price.
   */
  async buy(plan, type = 'subscription') {
    if (this.#isOpening) return; // A second tap.
    this.#isOpening = true;
    this.#show('opening');
    try {
      const context = makeContext(plan, type, await this.#attributes());
      const {page} = await this.checkouts.begin(context, this.userId);
      if (!this.#isEnded) await this.openPage(page);
      this.#show('inBrowser');
    } catch (failure) {
      this.#show('notOpened');
    }
    this.#isOpening = false;
  }

  /** A link opened the app. Returns false for a link that is not the session's, such as one of your own. */
  open(url) {
    const link = readLink(url, this);
    if (!link) return false;
    if (link.plan) this.buy(link.plan);
    else if (link.claim) this.#keepClaim(link.claim);
    else if (link.page) Promise.resolve(this.openPage(link.page)).catch(() => {});
    else this.check(link.checkout);
    return true;
  }

  #showClaim(claim) {
    this.claim = claim;
    this.onChange();
  }

  /** The link waits until the customer has signed in and has agreed: it may have been forwarded. */
  async #keepClaim(token) {
    this.token = token;
    this.#showClaim(this.isAnonymous ? 'signIn' : 'ask');
    await this.storage.setItem('checkoutkit.claim', token).catch(() => {});
  }

  async #readClaim() {
    const token = this.token || (await this.storage.getItem('checkoutkit.claim').catch(() => null));
    if (token && this.claim === 'none' && !this.#isEnded) await this.#keepClaim(token);
  }

  /** The customer wants the purchase in this account. */
  async addPurchase() {
    const {token} = this;
    if (!token || !['ask', 'later'].includes(this.claim)) return;
    this.#showClaim('adding');
    const result = await this.checkouts.claim(token, this.userId);
    if (token === this.token && result !== 'retryLater') await this.#dropClaim();
    this.#showClaim(claimStates[result] || result);
    if (this.claim === 'added') await this.#isUnlocked();
  }

  /** The customer does not want it in this account. */
  async declinePurchase() {
    this.#showClaim('none');
    await this.#dropClaim();
  }

  async #dropClaim() {
    this.token = null;
    await this.storage.setItem('checkoutkit.claim', '').catch(() => {});
  }

  /** The app came to the front, or left it. */
  async setActive(isActive) {
    this.#isActive = isActive;
    if (!isActive) return;
    await this.#readClaim();
    await this.checkouts.postPending();
    // The customer may come back without the link.
    await Promise.all([this.check(null), this.#askOthers()]);
  }

  /** Follows a checkout to its end, for about ten minutes; null is the one that began last. */
  async check(id) {
    const open = await this.checkouts.ids(this.userId);
    const known = [...open, ...(await this.checkouts.ids(this.userId, true))];
    const wanted = id || open[open.length - 1];
    // A link to another customer's checkout is ignored.
    if (this.#isChecking || this.#isOpening || !known.includes(wanted)) return;
    this.#isChecking = true;
    this.#show('checking');
    try {
      let result = await this.checkouts.progress(wanted);
      for (let round = 0; round < 20 && ['pending', 'processing'].includes(result); round += 1) {
        this.#show(result);
        if (!this.#isActive) break;
        result = await this.checkouts.progress(wanted, 30);
      }
      if (result === 'processed') await this.#confirm(wanted);
      else this.#show(progressStates[result] || result);
    } catch (failure) {
      this.#show('unchecked');
    }
    this.#isChecking = false;
  }

  /** A backend that cannot be reached has not reported the purchase. */
  async #isUnlocked() {
    try {
      return (await this.reloadEntitlements(this.userId)) === true;
    } catch (failure) {
      return false;
    }
  }

  /** Asks the app's backend until it reports the purchase, for a minute. The next activation asks again. */
  async #confirm(id) {
    this.#show('activating');
    for (const pause of [0, ...pauses]) {
      if (pause > 0) await (this.sleep || sleep)(pause);
      if (this.#isEnded) return;
      if (await this.#isUnlocked()) {
        await this.checkouts.discard(id);
        this.#show('confirmed');
        return;
      }
      if (!this.#isActive) return;
    }
  }

  /** Asks for the others once: a receipt may have been replayed, and a payment may have come late. */
  async #askOthers() {
    const others = [...(await this.checkouts.ids(this.userId)).slice(0, -1),
      ...(await this.checkouts.ids(this.userId, true))];
    for (const id of others) {
      // An error of an old checkout must not hide the last one.
      const result = await this.checkouts.progress(id).catch(() => 'pending');
      // Read again after each wait: the last checkout may have been paid meanwhile.
      const isQuiet = () => ['none', 'checking', 'notPaid', 'late'].includes(this.state);
      if (result === 'processing' && isQuiet()) this.#show('processing');
      // The purchase may be unlocked already, so it is not shown as news.
      if (result === 'processed' && (await this.#isUnlocked())) {
        await this.checkouts.discard(id);
        if (isQuiet()) this.#show('confirmed');
      }
    }
  }
}

/**
 * Whether the link that started the app is another one than the last time. The frameworks give it again when
 * the app is started from the list of recent apps, and the paywall's link buys. A second start by the same link
 * looks the same, so it only opens the app.
 */
export async function isNewLink(url, storage) {
  if (!url) return false;
  try {
    if (url === (await storage.getItem('checkoutkit.initialLink'))) return false;
    await storage.setItem('checkoutkit.initialLink', url);
  } catch (failure) {
    // A storage that fails must not stop a sale.
  }
  return true;
}
