// node --test kit-sample/JavaScript/session.test.js

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {isContextId, makeContextId, plyContext} from './context.js';
import {readLink, storefrontPage} from './links.js';
import {CheckoutSession, isNewLink} from './session.js';

const place = {host: 'pay.example.com', browserHost: 'back.pay.example.com', app: 'ios', scheme: 'exampleapp'};

class Storage {
  items = new Map();
  async getItem(key) { return this.items.get(key) ?? null; }
  async setItem(key, value) { this.items.set(key, value); }
}

/** A relay with one answer for each state that is asked, the last one for the rest. */
function session({states = ['open'], storage = new Storage(), post = true, userId = 'jdo-1', claimed, ...rest}) {
  const requests = [];
  globalThis.fetch = async (url, options) => {
    requests.push(url);
    if (url.endsWith('/claims')) return claimed(JSON.parse(options.body).token);
    if (options.method === 'POST') {
      if (!post) throw new TypeError('no network');
      const {id} = JSON.parse(options.body);
      return Response.json({context_id: id, checkout_url: `https://buy.example.com/a?client_reference_id=${id}`}, {status: 201});
    }
    const state = states.length > 1 ? states.shift() : states[0];
    if (state === 'unknown') return Response.json({type: 'urn:receiptd:problem:unknown-context'}, {status: 404});
    return Response.json({state, paid: ['paid', 'delivered', 'failed'].includes(state), context_id: 'ctx_x'});
  };
  const opened = [];
  const shown = [];
  const made = new CheckoutSession({
    ...place, headers: {}, pages: {price_1: 'https://own.example.com/p'}, userId, attributes: () => ({}), storage,
    openPage: url => opened.push(url), reloadEntitlements: async () => true, sleep: async () => {}, ...rest,
  });
  made.onChange = () => shown.push(made.state);
  return {session: made, opened, shown, requests, storage};
}

test('an id is a ULID, and a context is base64 of UTF-8', () => {
  assert.ok(isContextId(makeContextId(Date.now())));
  assert.equal(makeContextId(0).slice(4, 14), '0000000000');
  const context = {a: 'Žluťoučký 🦊', b: 1};
  assert.equal(Buffer.from(plyContext(context), 'base64').toString(), JSON.stringify(context));
});

test('from the tap to the entitlement', async () => {
  let reloads = 0;
  const {session: made, opened, shown} = session({
    states: ['open', 'paid', 'delivered'], reloadEntitlements: async userId => (reloads += 1) === 3 && userId === 'jdo-1',
  });
  await made.buy('price_1');
  assert.match(opened[0], /^https:\/\/buy\.example\.com\/a\?client_reference_id=ctx_/);
  await made.setActive(true);
  assert.deepEqual(shown, ['opening', 'inBrowser', 'checking', 'pending', 'processing', 'activating', 'confirmed']);
  assert.equal(reloads, 3);
  assert.deepEqual(await made.checkouts.ids('jdo-1'), []);
});

test('delivered is not unlocked: the id is kept until the backend reports the purchase', async () => {
  const storage = new Storage();
  const first = session({states: ['delivered'], storage, reloadEntitlements: async () => { throw new Error('no network'); }});
  await first.session.buy('price_1');
  await first.session.setActive(true);
  assert.equal(first.session.state, 'activating');
  const next = session({states: ['delivered'], storage});
  await next.session.setActive(true);
  assert.equal(next.session.state, 'confirmed');
});

test('without the relay the own page opens, and the context is posted later', async () => {
  const storage = new Storage();
  const first = session({post: false, storage});
  await first.session.buy('price_1');
  const id = first.opened[0].split('client_reference_id=')[1];
  assert.equal(first.opened[0], `https://own.example.com/p?client_reference_id=${id}`);
  const next = session({states: ['failed'], storage});
  await next.session.checkouts.postPending();
  assert.equal(next.requests.length, 1);
  assert.deepEqual(await next.session.checkouts.ids('jdo-1'), [id]);
});

test('another user sees nothing, and a late payment is found', async () => {
  const storage = new Storage();
  const first = session({states: ['expired'], storage});
  await first.session.buy('price_1');
  await first.session.setActive(true);
  assert.equal(first.session.state, 'late');
  const other = session({states: ['paid'], storage, userId: 'ben'});
  await other.session.setActive(true);
  assert.deepEqual(other.shown, []);
  const next = session({states: ['paid'], storage});
  await next.session.setActive(true);
  assert.equal(next.session.state, 'processing');
});

test('a checkout that the relay does not know ends', async () => {
  const {session: made} = session({states: ['unknown']});
  await made.buy('price_1');
  await made.setActive(true);
  assert.equal(made.state, 'unknown');
  assert.deepEqual(await made.checkouts.ids('jdo-1'), []);
});

test('a purchase without an account is added after the sign-in, if the customer agrees', async () => {
  const storage = new Storage();
  const token = 'clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V';
  const anonymous = session({storage, userId: 'anonymous-7', isAnonymous: true});
  assert.equal(anonymous.session.open(`https://pay.example.com/v1/ios/claim/${token}`), true);
  assert.equal(anonymous.session.claim, 'signIn');
  await anonymous.session.addPurchase();
  assert.deepEqual(anonymous.requests, []);
  const tokens = [];
  const claimed = sent => {
    tokens.push(sent);
    if (tokens.length === 1) return Response.json({type: 'urn:receiptd:problem:busy'}, {status: 503});
    return Response.json({status_url: '/v1/ios/x'}, {status: 201});
  };
  const {session: made, requests} = session({storage, claimed});
  await made.setActive(true);
  assert.equal(made.claim, 'ask');
  await made.addPurchase();
  assert.equal(made.claim, 'later');
  await made.addPurchase();
  assert.equal(made.claim, 'added');
  assert.deepEqual(tokens, [token, token]);
  assert.equal(requests.at(-1), 'https://pay.example.com/v1/ios/users/jdo-1/claims');
  const next = session({storage});
  await next.session.setActive(true);
  assert.equal(next.session.claim, 'none');
});

test('each refusal of a claim is shown', async () => {
  for (const [type, status, claim] of [
    ['claimed-by-another-user', 409, 'otherUser'], ['claim-gone', 410, 'expired'], ['unknown-claim', 404, 'unknown'],
  ]) {
    const answer = () => Response.json({type: `urn:receiptd:problem:${type}`}, {status});
    const {session: made} = session({claimed: answer});
    made.open('exampleapp://pay.example.com/v1/ios/claim/clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V');
    await made.addPurchase();
    assert.equal(made.claim, claim);
    await made.declinePurchase();
    assert.equal(made.claim, 'none');
  }
});

test('links', () => {
  const id = 'ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD';
  for (const [url, expected] of [
    ['exampleapp://web_checkout/?plan_id=price_1', {plan: 'price_1'}],
    ['ExampleApp://web_checkout?plan_id=a%20b', {plan: 'a b'}],
    ['exampleapp://web_checkout/', null],
    [`https://pay.example.com/v1/ios/return?context_id=${id}`, {checkout: id}],
    [`exampleapp://pay.example.com/v1/ios/return?context_id=${id}#x`, {checkout: id}],
    ['https://pay.example.com/v1/ios/return', {checkout: null}],
    ['https://pay.example.com/v1/ios/return?status=SUCCESS&orderToken=005.2fkv5o', {checkout: null, orderToken: '005.2fkv5o'}],
    [`https://pay.example.com/v1/ios/return?orderToken=t&context_id=${id}`, {checkout: id, orderToken: 't'}],
    ['exampleapp://pay.example.com/v1/ios/return?orderToken=', null], ['exampleapp://pay.example.com/v1/ios/return?orderToken=a%2Fb', null],
    ['exampleapp://pay.example.com/v1/ios/return?orderToken=..', null], ['exampleapp://pay.example.com/v1/ios/return?orderToken=%', null],
    // A page that no route knows opens in the browser, by a name that does not open the app again.
    ['https://pay.example.com/v1/ios/return?context_id=ctx_x', {page: 'https://back.pay.example.com/v1/ios/return?context_id=ctx_x'}],
    ['https://Pay.Example.com/plans', {page: 'https://back.pay.example.com/plans'}],
    ['https://www.example.com/', {page: 'https://www.example.com/'}],
    ['https://me@pay.example.com/', null], ['https://pay.example.com:443/', null],
    ['javascript:alert(1)', null], ['intent://x#Intent;end', null], ['exampleapp://settings', null], ['', null], [null, null],
  ]) assert.deepEqual(readLink(url, place), expected, url);
});

test('a link that no route knows opens once, and nothing is asked', async () => {
  const {session: made, opened, requests} = session({});
  assert.equal(made.open('https://pay.example.com/plans'), true);
  assert.equal(made.open('exampleapp://settings'), false);
  assert.deepEqual(opened, ['https://back.pay.example.com/plans']);
  assert.equal(readLink(opened[0], place).page, opened[0]);
  assert.deepEqual(requests, []);
});

test('the link that started the app is handled once', async () => {
  const storage = new Storage();
  assert.equal(await isNewLink('exampleapp://a', storage), true);
  assert.equal(await isNewLink('exampleapp://a', storage), false);
  assert.equal(await isNewLink(null, storage), false);
});

test('pages of a storefront, by whole segments on the own hosts', () => {
  for (const [path, route] of [
    ['/cart', 'cart'], ['/cart/', 'cart'], ['/cart/c/xyz?key=2', 'cart'], ['/fr/cart', 'cart'], ['/en-CA/cart', 'cart'],
    ['/checkout', 'checkout'], ['/checkouts/cn/a/information', 'checkout'], ['/de/checkouts/cn/a', 'checkout'],
    ['/zh-Hant/checkout', 'checkout'], ['/12345/checkouts/a', 'checkout'], ['/checkouts/c/a/post_purchase', 'checkout'],
    ['/checkouts/cn/a/Thank-You', 'browser'], ['/checkouts/cn/a/thank_you', 'browser'],
    ['/12345/checkouts/a/express/callback', 'browser'], ['/checkouts/cn/a/thank-you-page', 'checkout'],
    ['/products/cart-cover', 'browser'], ['/products/cart', 'browser'], ['/blogs/news/checkout-tips', 'browser'],
    ['/admin/checkout', 'browser'], ['/12345/checkout', 'browser'], ['/cartoons', 'browser'], ['/a%2Fcheckout', 'browser'],
    ['/CART', 'browser'], ['/pages/de/cart', 'browser'], ['/de/fr/cart', 'browser'], ['/?next=/cart', 'browser'],
    ['', 'browser'], ['/', 'browser'], ['//checkout', undefined], ['/products/../checkout', undefined],
    ['/checkout/%00', undefined], ['/checkout/%zz', undefined],
  ]) assert.equal(storefrontPage(`https://shop.example${path}`, ['Shop.Example'])?.route, route, path);
  for (const url of [
    'https://evil.test/checkout', 'http://shop.example/checkout', 'https://shop.example@evil.test/checkout',
    'https://me@shop.example/checkout', 'https://shop.example:8443/checkout', 'shop.example/checkout',
  ]) assert.equal(storefrontPage(url, ['shop.example']), null, url);
  assert.equal(storefrontPage('https://shop.example/thank_you', ['shop.example']).isConfirmationPage, true);
});

const here = fileURLToPath(new URL('.', import.meta.url));
const read = path => readFileSync(here + path, 'utf8');

test('the package has the files that it imports, and the project’s version', async () => {
  const {files, version} = JSON.parse(read('package.json'));
  const imported = files.flatMap(file => [...read(file).matchAll(/from '\.\/(.*)'/g)].map(match => match[1]));
  assert.ok(imported.includes('context.js'));
  for (const file of imported) assert.ok(files.includes(file), file);
  assert.ok(read('../../Sources/Support/Platform/BuildOrigin.swift').includes(`version = "${version}"`));
});

test('the types name what the package exports', async () => {
  const typed = [...read('index.d.ts').matchAll(/^export (?:class|function) (\w+)/gm)].map(match => match[1]);
  assert.deepEqual(typed.sort(), Object.keys(await import('checkout-session')).sort());
});

const hasCompiler = spawnSync('tsc', ['--version']).status === 0;

test('an app with types compiles', {skip: hasCompiler ? false : 'tsc is not in the path'}, () => {
  const options = '--noEmit --strict --target es2022 --lib es2022 --module node16 --moduleResolution node16';
  // No types but the package's.
  const run = spawnSync('tsc', [...options.split(' '), '--typeRoots', here, 'types.test.ts'], {cwd: here, encoding: 'utf8'});
  assert.equal(run.status, 0, run.stdout);
});
