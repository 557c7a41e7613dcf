// node --test kit-sample/JavaScript/session.test.js

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {isContextId, makeContext, makeContextId, plyContext} from './context.js';
import {checkoutPage, readLink, storefrontPage} from './links.js';
import {CheckoutSession, isNewLink} from './session.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const read = path => readFileSync(here + path, 'utf8');
// What all kits answer; the kits for iOS and Android are tested with the same.
const [links, relay] = ['links', 'relay'].map(name => JSON.parse(read(`../../Tests/KitTables/${name}.json`)));
const place = {host: 'pay.example.com', browserHost: 'back.pay.example.com', app: 'ios', scheme: 'exampleapp'};

class Storage {
  items = new Map();
  async getItem(key) { return this.items.get(key) ?? null; }
  async setItem(key, value) { this.items.set(key, value); }
}

/** A relay with one answer for each state that is asked, the last one for the rest. */
function session({states = ['open'], storage = new Storage(), post = true, userId = 'jdo-1', claimed, ...rest}) {
  const requests = [];
  const bodies = [];
  globalThis.fetch = async (url, options) => {
    requests.push(url);
    if (options.body) bodies.push(JSON.parse(options.body));
    if (url.endsWith('/claims')) return claimed(JSON.parse(options.body).token);
    if (options.method === 'POST') {
      if (!post) throw new TypeError('no network');
      const {id} = JSON.parse(options.body);
      const page = `https://buy.example.com/a?client_reference_id=${id}`;
      return Response.json({context_id: id, checkout_url: page}, {status: 201});
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
  return {session: made, opened, shown, requests, bodies, storage};
}

test('an id is a ULID, and a context is base64 of UTF-8', () => {
  assert.ok(isContextId(makeContextId(Date.now())));
  assert.equal(makeContextId(0).slice(4, 14), '0000000000');
  const context = {a: 'Žluťoučký 🦊', b: 1};
  assert.equal(Buffer.from(plyContext(context), 'base64').toString(), JSON.stringify(context));
});

test('the built-in attributes become the context, for a recurring or a one-time price', async () => {
  for (const {type, attributes, context} of relay.contexts) {
    assert.deepEqual(makeContext('price_1', type || 'subscription', attributes), context);
    const {session: made, bodies} = session({
      attributes: async () => ({...attributes, original_platform: 'IOS'}),
    });
    await made.buy('price_1', type);
    const posted = JSON.parse(Buffer.from(bodies[0].ply_context, 'base64').toString());
    assert.deepEqual(posted, {...context, original_platform: 'IOS'});
  }
  // React Native's SDK before 6 has no built-in attributes, so the app names the paywall.
  assert.equal(makeContext('price_1', 'subscription', {presentation_id: 'pres_9'}).presentation_id, 'pres_9');
  const {session: made} = session({attributes: async () => { throw new Error('not started'); }});
  await made.buy('price_1');
  assert.equal(made.state, 'inBrowser', 'the SDK stops no sale');
});

test('a token is asked for before each post, and is a part of the five seconds', async t => {
  let tokens = 0;
  const {checkouts} = session({headers: async () => ({Authorization: `Bearer ${(tokens += 1)}`})}).session;
  const sent = [];
  globalThis.fetch = async (url, {headers}) => {
    sent.push(headers.Authorization);
    return Response.json({type: 'urn:receiptd:problem:unauthorized'}, {status: 401});
  };
  const begun = await checkouts.begin({stripe_price_id: 'price_1'}, 'jdo-1');
  assert.deepEqual([begun.isPosted, begun.page.endsWith(begun.contextId)], [false, true]);
  await checkouts.claim('clm_1', 'jdo-1');
  assert.deepEqual(sent, ['Bearer 1', 'Bearer 2']);
  t.mock.timers.enable({apis: ['setTimeout']});
  const {checkouts: silent} = session({headers: () => new Promise(() => {})}).session;
  const late = silent.begin({stripe_price_id: 'price_1'}, 'jdo-1');
  // The timer starts when the stored list has been read.
  for (let turn = 0; turn < 20; turn += 1) await null;
  t.mock.timers.tick(5000);
  assert.equal((await late).isPosted, false);
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

/** The answer of a table's row; without a status there is no network. */
function answerOf({status, problem, body}) {
  if (!status) throw new TypeError('no network');
  return problem ? Response.json({type: `urn:receiptd:problem:${problem}`}, {status}) : new Response(body, {status});
}

test('each answer to a claim is shown, and the link is kept until the relay has decided', async () => {
  const names = {claimed: 'added', replay: 'added', retryLater: 'later', undefined: 'later'};
  for (const row of relay.claims) {
    const {session: made, storage} = session({claimed: () => answerOf(row)});
    made.open('exampleapp://pay.example.com/v1/ios/claim/clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V');
    await made.addPurchase();
    const claim = names[row.result] || row.result;
    assert.equal(made.claim, claim, JSON.stringify(row));
    assert.equal(Boolean(storage.items.get('checkoutkit.claim')), claim === 'later', JSON.stringify(row));
    await made.declinePurchase();
    assert.equal(made.claim, 'none');
    const result = await made.checkouts.claim('clm_1', 'jdo-1');
    assert.equal(result, row.result || 'retryLater', JSON.stringify(row));
  }
});

test('each state has its progress, and an answer without a state has none', async () => {
  const {session: made} = session({});
  const progress = answer => {
    globalThis.fetch = async () => answer;
    return made.checkouts.progress('ctx_x');
  };
  for (const {state, paid, progress: expected} of relay.status) {
    const result = expected === 'unpaid' && state === 'expired' ? 'expired' : expected;
    assert.equal(await progress(Response.json({context_id: 'ctx_x', state, paid})), result, `${state} ${paid}`);
  }
  for (const body of relay.notStatus) await assert.rejects(progress(new Response(body)), body);
});

test('a refused post ends, any other is repeated, and the customer may still pay', async () => {
  for (const row of relay.posts) {
    const storage = new Storage();
    const {checkouts} = session({storage, post: false}).session;
    globalThis.fetch = async () => answerOf({...row, days: 0});
    await checkouts.begin({stripe_price_id: 'price_1'}, 'jdo-1');
    const [checkout] = JSON.parse(storage.items.get('checkoutkit.checkouts'));
    assert.ok(checkout.plyContext, `the first answer drops nothing: ${JSON.stringify(row)}`);
    // The next process, when the post is due.
    const begunAt = checkout.begunAt - (row.days || 0) * 86400e3;
    storage.items.set('checkoutkit.checkouts', JSON.stringify([{...checkout, begunAt, nextAt: 0}]));
    const next = session({storage}).session.checkouts;
    globalThis.fetch = async () => answerOf(row);
    await next.postPending();
    const [after] = JSON.parse(storage.items.get('checkoutkit.checkouts'));
    assert.equal(after.plyContext ? 'kept' : 'dropped', row.after, JSON.stringify(row));
    assert.deepEqual(await next.ids('jdo-1'), [checkout.id]);
  }
});

test('pauses grow with each failed post, answered or not, and Retry-After makes them longer', async t => {
  t.mock.timers.enable({apis: ['Date'], now: 1e12});
  for (const {attempts, retryAfter, seconds} of relay.pauses) {
    for (const isAnswered of retryAfter ? [true] : [true, false]) {
      const storage = new Storage();
      const item = {id: 'ctx_x', userId: 'jdo-1', plyContext: 'e30=', begunAt: 1e12, attempts: attempts - 1};
      storage.items.set('checkoutkit.checkouts', JSON.stringify([item]));
      const {checkouts} = session({storage}).session;
      const headers = retryAfter ? {'Retry-After': `${retryAfter}`} : {};
      globalThis.fetch = async () => {
        if (isAnswered) return new Response('', {status: 503, headers});
        throw new TypeError('no network');
      };
      await checkouts.postPending();
      const [after] = JSON.parse(storage.items.get('checkoutkit.checkouts'));
      const pause = (after.nextAt - 1e12) / 1000;
      assert.equal(after.attempts, attempts);
      const isRandom = !(retryAfter >= seconds);
      assert.ok(pause <= seconds && pause >= (isRandom ? 0.8 : 1) * seconds, `${pause} of ${seconds}`);
      // Nothing is posted before.
      globalThis.fetch = async () => assert.fail();
      await checkouts.postPending();
    }
  }
});

test('a user is one segment of the path, and one that is none begins nothing', async () => {
  for (const {id, segment} of relay.users) {
    const {session: made, requests, opened} = session({userId: id});
    await made.buy('price_1');
    assert.equal(made.state, segment ? 'inBrowser' : 'notOpened', id);
    assert.deepEqual(requests, segment ? [`https://pay.example.com/v1/ios/users/${segment}/checkout`] : []);
    assert.equal(opened.length, requests.length);
  }
  for (const {id, isValid} of relay.contextIds) assert.equal(isContextId(id), isValid, id);
});

test('links', () => {
  for (const {url, plan, claim, return: back} of links.links) {
    const found = readLink(url, {...place, app: 'shop'});
    const {context_id: checkout = null, orderToken} = back || {};
    const expected = plan ? {plan} : claim ? {claim} : back ? {checkout, ...(orderToken && {orderToken})} : null;
    // Any other page opens in the browser.
    assert.deepEqual(found && 'page' in found ? null : found, expected, url);
  }
  for (const [url, expected] of [
    // A page that no route knows opens in the browser, by a name that does not open the app again.
    ['https://pay.example.com/v1/ios/return?context_id=ctx_x', {page: 'https://back.pay.example.com/v1/ios/return?context_id=ctx_x'}],
    ['https://Pay.Example.com:443/plans', {page: 'https://back.pay.example.com/plans'}],
    ['https://www.example.com/', {page: 'https://www.example.com/'}],
    ['https://me@pay.example.com/', null], ['https://pay.example.com:8443/', null], ['', null], [null, null],
  ]) assert.deepEqual(readLink(url, place), expected, url);
  for (const {url, opened} of links.pages) assert.equal(checkoutPage(url, 'ID'), opened ?? null, url);
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
  for (const {url, route, isConfirmation = false} of links.storefront) {
    const expected = route ? {route, isConfirmationPage: isConfirmation} : null;
    assert.deepEqual(storefrontPage(url, ['Shop.Example']), expected, url);
  }
  assert.equal(storefrontPage('https://shop.example/checkout/%zz', ['shop.example']), null);
});

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
