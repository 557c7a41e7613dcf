// Uses the types as an app does; compiled, not run: tsc --noEmit --strict --target es2022 --moduleResolution node16.

import {
  Checkouts, CheckoutSession, CheckoutState, ClaimResult, isNewLink, readLink, storefrontPage,
} from 'checkout-session';

const storage = {getItem: async (key: string) => key, setItem: async (_key: string, _value: string) => {}};
const place = {host: 'pay.example.com', app: 'ios', scheme: 'exampleapp', browserHost: 'back.pay.example.com'};
const relay = {...place, headers: {'X-API-KEY': 'key'}, pages: {price_1: 'https://buy.example.com/a'}, storage};

export async function use(texts: Record<CheckoutState, string>): Promise<string> {
  const session = new CheckoutSession({
    ...relay, userId: 'jdo-1', attributes: () => ({original_platform: 'IOS'}), openPage: url => url.length,
    reloadEntitlements: async user => user === 'jdo-1',
  });
  session.onChange = () => {};
  await session.buy('price_1');
  await session.buy('price_2', 'checkout_session');
  await session.setActive(true);
  if (session.claim === 'ask') await session.addPurchase();
  if (await isNewLink(null, storage)) session.open('exampleapp://web_checkout?plan_id=price_1');
  const link = readLink('https://example.com', place);
  const page = storefrontPage('https://example.com/cart', ['example.com']);
  const token = async () => ({Authorization: 'Bearer token'});
  const checkouts = new Checkouts({...relay, headers: token});
  const {contextId, page: opened, isPosted} = await checkouts.begin({stripe_price_id: 'price_1'}, 'jdo-1');
  if (!isPosted) await session.checkouts.postPending();
  const claimed: ClaimResult = await checkouts.claim(contextId + opened, 'jdo-1');
  const ids = await checkouts.ids('jdo-1');
  const progress = await checkouts.progress(ids[0]!);
  if (claimed === 'retryLater' || progress === 'unpaid') await checkouts.forget('jdo-1');
  // @ts-expect-error: no such state
  if (session.state === 'paid') session.end();
  // @ts-expect-error: a session needs its browser
  new CheckoutSession(relay);
  return texts[session.state] + (link && 'plan' in link ? link.plan : '') + (page?.route ?? '') + progress;
}
