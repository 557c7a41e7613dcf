// The relay, and the checkouts that are not over, in the order in which they began.

import {isUserId, makeContextId, plyContext} from './context.js';
import {checkoutPage} from './links.js';

const secondsMax = 86400;
const day = secondsMax * 1000;

/** Whether the relay itself sent a problem, not a captive portal, a firewall or a proxy; of this type if one is given. */
const isProblem = ({type}, name = '.+') => new RegExp(`^urn:receiptd:problem:${name}$`).test(type);
const isPosted = ({status, body}) => (status === 200 || status === 201) && typeof body.context_id === 'string';
/** When to post again. A part is random, so that apps do not post together when the relay is back. */
const nextAt = (attempts, retryAfter) => {
  const pause = Math.min(3600, 30 * 2 ** (attempts - 1)) * (1 - Math.random() / 5);
  return Date.now() + 1000 * Math.max(pause, Math.min(secondsMax, retryAfter));
};
// A new token or another configuration may end a refusal. A clock alone, which may be wrong, drops nothing.
const passing = age => (age > 7 * day ? [408, 429] : [401, 403, 404, 408, 429]);

export class Checkouts {
  #all = []; // In memory, too: a storage that fails must not stop a sale.
  #isRead = false;
  #clockOffset = 0; // Milliseconds by which the relay's clock is ahead of the device's.
  #last = Promise.resolve();
  #posting = null;

  /** @param configuration `{host, app, headers, pages, storage}`, as in `CheckoutSession`. */
  constructor(configuration) {
    Object.assign(this, configuration);
    this.relay = `https://${this.host}/v1/${this.app}`;
  }

  async #read() {
    // When this fails, the stored list stays as it is, and is read again before the next write.
    const text = await this.storage.getItem('checkoutkit.checkouts');
    this.#clockOffset = Number(await this.storage.getItem('checkoutkit.clockOffset')) || 0;
    let stored = [];
    try {
      stored = JSON.parse(text || '[]').filter(item => typeof item.id === 'string');
    } catch (damaged) {
      // The list begins again.
    }
    this.#all = [...stored, ...this.#all];
    this.#isRead = true;
  }

  /** Changes the list; one change after the other. It never fails: without a storage the list is in memory only. */
  #change(body) {
    const next = this.#last.then(async () => {
      try {
        if (!this.#isRead) await this.#read();
      } catch (failure) {
        // The next time.
      }
      const before = this.#all;
      this.#all = body(before);
      if (this.#isRead && this.#all !== before) {
        this.#all = this.#all.slice(-50);
        await this.storage.setItem('checkoutkit.checkouts', JSON.stringify(this.#all)).catch(() => {});
      }
      return this.#all;
    });
    this.#last = next.catch(() => {});
    return next;
  }

  /** The ids of a user's checkouts, the newest last. Another user of this device must not see them. */
  async ids(userId, isExpired = false) {
    const all = await this.#change(list => list);
    return all.filter(item => item.userId === userId && Boolean(item.isExpired) === isExpired).map(item => item.id);
  }

  discard(id) {
    return this.#change(list => list.filter(item => item.id !== id));
  }

  /** For a user who deletes the account. */
  forget(userId) {
    return this.#change(list => list.filter(item => item.userId !== userId));
  }

  async #find(id) {
    return (await this.#change(list => list)).find(item => item.id === id);
  }

  #replace(id, values) {
    return this.#change(list => list.map(item => (item.id === id ? {...item, ...values} : item)));
  }

  /** Counts a post that the relay did not take, and schedules the next one. */
  #postLater(id, retryAfter = 0) {
    return this.#change(list => list.map(item => {
      if (item.id !== id) return item;
      const attempts = (item.attempts || 0) + 1;
      return {...item, attempts, nextAt: nextAt(attempts, retryAfter)};
    }));
  }

  /** @param options of `fetch`, or a promise of them, whose time counts towards the limit. */
  async #request(url, options, seconds) {
    const abort = new AbortController();
    const ask = async () => {
      const response = await fetch(url, {...(await options), signal: abort.signal});
      const body = (await response.json().catch(() => null)) || {};
      this.#learnTime(response, body);
      return {status: response.status, body, retryAfter: Number(response.headers.get('retry-after')) || 0};
    };
    let timer;
    const timeUp = new Promise((_, fail) => {
      timer = setTimeout(() => {
        fail(new Error('No answer in time.'));
        abort.abort();
      }, seconds * 1000);
    });
    try {
      return await Promise.race([ask(), timeUp]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The relay refuses an id of a clock that is an hour ahead, so ids are made by the relay's clock. */
  #learnTime(response, body) {
    const offset = Date.parse(response.headers.get('date')) - Date.now();
    if (!(response.ok ? body.context_id : isProblem(body)) || !(Math.abs(offset - this.#clockOffset) > 60e3)) return;
    this.#clockOffset = offset;
    this.storage.setItem('checkoutkit.clockOffset', String(offset)).catch(() => {});
  }

  #send(userId, endpoint, body, seconds) {
    const options = async () => ({
      method: 'POST', body: JSON.stringify(body), headers: {
        ...(typeof this.headers === 'function' ? await this.headers() : this.headers),
        Accept: 'application/json', 'Content-Type': 'application/json',
      },
    });
    return this.#request(`${this.relay}/users/${encodeURIComponent(userId)}/${endpoint}`, options(), seconds);
  }

  async #post(checkout, endpoint, seconds) {
    const began = Date.now();
    const send = (id, rest) => this.#send(checkout.userId, endpoint, {id, ply_context: checkout.plyContext}, rest);
    const answer = await send(checkout.id, seconds);
    // Without the id, the relay makes one.
    if (!isProblem(answer.body, 'context-id-time')) return answer;
    return send(undefined, Math.max(0, seconds - (Date.now() - began) / 1000));
  }

  /**
   * Begins a checkout, for one tap. The sale never waits longer than 5 s: then the app's own page opens,
   * with an id that the relay gets later.
   *
   * @returns `{contextId, page, isPosted}`: the page to open, and whether the relay has the context.
   */
  async begin(context, userId) {
    await this.#change(list => list); // Reads the clock's difference.
    if (!isUserId(userId)) throw new Error('No relay accepts this user id.');
    const now = Date.now();
    const id = makeContextId(now + this.#clockOffset);
    const page = checkoutPage(this.pages[context.stripe_price_id], id);
    const checkout = {id, userId, plyContext: plyContext(context), begunAt: now};
    await this.#change(list => [...list, checkout]);
    try {
      const answer = await this.#post(checkout, 'checkout', 5);
      if (isPosted(answer) && /^https:\/\//.test(answer.body.checkout_url)) {
        // The relay may have made the id itself.
        const contextId = answer.body.context_id;
        await this.#replace(id, {id: contextId, plyContext: null});
        return {contextId, page: answer.body.checkout_url, isPosted: true};
      }
      await this.#postLater(id, answer.retryAfter);
    } catch (failure) {
      // No answer: the context is posted when the customer is back, without a pause.
    }
    if (page) return {contextId: id, page, isPosted: false};
    await this.discard(id);
    throw new Error('There is no checkout page.');
  }

  /** Posts what the relay does not have yet. */
  postPending() {
    this.#posting = this.#posting || this.#postAll().finally(() => (this.#posting = null));
    return this.#posting;
  }

  async #postAll() {
    for (const {id} of await this.#change(list => list)) {
      const checkout = await this.#find(id); // It may have been discarded meanwhile.
      if (!checkout) continue;
      const age = Date.now() - checkout.begunAt;
      const wait = checkout.nextAt - Date.now();
      if (!checkout.plyContext) {
        if (age > 30 * day) await this.discard(id);
      } else if (!(wait > 0) || wait > day) {
        try {
          await this.#noteAnswer(id, age, await this.#post(checkout, 'contexts', 30));
        } catch (failure) {
          await this.#postLater(id);
          await this.#replace(id, {hadNoAnswer: true});
          return; // No network: the others the next time.
        }
      }
    }
  }

  async #noteAnswer(id, age, answer) {
    const {status, body} = answer;
    const isRefusal = isProblem(body) && status >= 400 && status < 500 && !passing(age).includes(status);
    if (isPosted(answer)) await this.#replace(id, {id: body.context_id, plyContext: null});
    // The relay would refuse it again, or is asked once more after a week; the customer may still pay.
    else if (isRefusal) await this.#replace(id, {plyContext: null});
    else await this.#postLater(id, answer.retryAfter);
  }

  /**
   * Claims a purchase: 'claimed', 'replay' (this user had claimed it before), 'otherUser', 'expired',
   * 'unknown', or 'retryLater' if the relay could not decide yet.
   */
  async claim(token, userId) {
    try {
      const {status, body} = await this.#send(userId, 'claims', {token}, 30);
      if ((status === 200 || status === 201) && typeof body.status_url === 'string') {
        return body.replay === true ? 'replay' : 'claimed';
      }
      if (isProblem(body, 'claimed-by-another-user')) return 'otherUser';
      if (status === 410 && isProblem(body)) return 'expired';
      return isProblem(body, 'unknown-claim') ? 'unknown' : 'retryLater';
    } catch (failure) {
      return 'retryLater';
    }
  }

  /**
   * The progress of a checkout: 'pending', 'processing' (paid; do not pay again), 'processed' (Purchasely
   * has accepted the receipt: reload the entitlements), 'unpaid', 'expired' (no payment in time; a later one
   * can still change it) or 'unknown'. The id is the secret, so the request has no key. Throws without an
   * answer, which says nothing about the payment.
   *
   * @param wait seconds for which the relay may wait until the state is final; 30 at most.
   */
  async progress(id, wait = 0) {
    return this.#progress(id, wait, true);
  }

  async #progress(id, wait, mayPost) {
    await this.postPending();
    const {status, body} = await this.#request(`${this.relay}/contexts/${id}?wait=${wait}`, {}, wait + 15);
    // Any other 404 is of a proxy, or of a wrong address.
    if (status === 404 && isProblem(body, 'unknown-context')) {
      const checkout = await this.#find(id);
      if (checkout && checkout.plyContext) {
        if (!mayPost || !checkout.hadNoAnswer) throw new Error('The context is not posted yet.');
        // The relay answers again, so the pause after a post without an answer is over.
        await this.#replace(id, {nextAt: 0, hadNoAnswer: false});
        return this.#progress(id, wait, false);
      }
      await this.discard(id);
      return 'unknown';
    }
    const {state} = body;
    // An older relay does not send `paid`: a customer who paid must not read that nothing was bought.
    const paid = body.paid ?? ['paid', 'failed'].includes(state);
    if (status !== 200 || typeof state !== 'string' || typeof paid !== 'boolean') {
      throw new Error(`The relay answered ${status}.`);
    }
    const unpaid = {expired: 'expired', failed: 'unpaid', cancelled: 'unpaid'}[state] || 'pending';
    const result = state === 'delivered' ? 'processed' : paid ? 'processing' : unpaid;
    if (result === 'unpaid') await this.discard(id);
    else await this.#replace(id, {isExpired: result === 'expired'});
    return result;
  }
}
