// Which links lead where. `URL` of React Native does not parse, so this code reads the text.

import {isClaimToken, isContextId, isOrderToken} from './context.js';

/** The parts of a URL as written (RFC 3986, appendix B); scheme and host in lower case. */
function parts(url) {
  const match = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(url || '');
  const [, scheme = '', authority = '', path, query = ''] = match;
  return {scheme: scheme.toLowerCase(), host: authority.toLowerCase(), path, query};
}

/** The decoded text; null for broken escapes. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (invalid) {
    return null;
  }
}

function value(query, name) {
  const field = query.split('&').find(part => part.split('=')[0] === name);
  return field === undefined ? undefined : decoded(field.slice(name.length + 1));
}

/**
 * What a link that opened the app is: `{plan}` (the paywall's), `{checkout}` (the way back; null is the checkout that
 * began last; with Afterpay's `orderToken`, to capture), `{claim}` (a purchase without an account), `{page}` (a web page that no route knows, to open in the browser), or null.
 *
 * @param place `{host, app, scheme, browserHost}`, as in `CheckoutSession`.
 */
export function readLink(url, {host, app, scheme, browserHost}) {
  const link = parts(url);
  if (link.scheme === scheme && link.host === 'web_checkout' && ['', '/'].includes(link.path)) {
    const plan = value(link.query, 'plan_id');
    return plan ? {plan} : null;
  }
  const isOwn = link.host === host && ['https', scheme].includes(link.scheme);
  if (isOwn && link.path === `/v1/${app}/return`) {
    const id = value(link.query, 'context_id');
    const orderToken = value(link.query, 'orderToken');
    const isToken = orderToken === undefined || isOrderToken(orderToken);
    const order = orderToken === undefined ? {} : {orderToken};
    if (isToken && (id === undefined || isContextId(id))) return {checkout: id === undefined ? null : id, ...order};
  }
  const claims = `/v1/${app}/claim/`;
  const token = link.path.slice(claims.length);
  if (isOwn && link.path.startsWith(claims) && isClaimToken(token)) return {claim: token};
  if (!['https', 'http'].includes(link.scheme)) return null;
  // Android gives a link of the app's own host to the app again, for ever. The other name of the host is not the app's.
  if (link.host === host) return {page: `https://${browserHost}${url.slice(url.indexOf('//') + 2 + host.length)}`};
  return link.host.replace(/^.*@|:\d*$/g, '') === host ? null : {page: url};
}

/**
 * A page of the app's own storefront, by the rules of CheckoutKit's `StrictStorefrontURL`: whole path segments, on the
 * given hosts only.
 *
 * @returns {{route: 'checkout'|'cart'|'browser', isConfirmationPage: boolean}|null} null for another host.
 */
export function storefrontPage(url, hosts) {
  const {scheme, host, path} = parts(url);
  const names = hosts.map(name => name.toLowerCase());
  if (scheme !== 'https' || !(names.includes(host) || names.includes(host.replace(/:443$/, '')))) return null;
  const all = path.replace(/^\//, '').replace(/\/$/, '').split('/').map(decoded);
  const isEmpty = all.length === 1 && all[0] === '';
  // eslint-disable-next-line no-control-regex
  const isInvalid = part => part === null || /^\.{0,2}$|[\0-\x1f\x7f-\x9f]/.test(part);
  if (!isEmpty && all.some(isInvalid)) return null;
  const isConfirmationPage = all.some(part => /^thank[-_]you$/i.test(part));
  const segments = /^[a-z]{2,3}(-[a-z]{2,4})?$/i.test(all[0]) ? all.slice(1) : all;
  return {route: isConfirmationPage ? 'browser' : storefrontRoute(segments), isConfirmationPage};
}

function storefrontRoute(segments) {
  const [first, second] = segments;
  if (['checkout', 'checkouts'].includes(first) || (/^\d+$/.test(first) && second === 'checkouts')) {
    // A wallet's callback, which Shopify's association file leaves to the browser.
    return segments.slice(-2).join('/') === 'express/callback' ? 'browser' : 'checkout';
  }
  return first === 'cart' ? 'cart' : 'browser';
}
