// Which links lead where. `URL` of React Native does not parse, so this code reads the text.

import {isClaimToken, isContextId, isIdentifier, isOrderToken} from './context.js';

/** The parts of a URL as written (RFC 3986, appendix B); scheme and host in lower case, the host without https' port. */
function parts(url) {
  const match = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(url || '');
  const [, written = '', authority = '', path, query = ''] = match;
  const scheme = written.toLowerCase();
  const host = authority.toLowerCase();
  return {scheme, authority, host: scheme === 'https' ? host.replace(/:443$/, '') : host, path, query};
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
  const field = query.split('&').find(part => decoded(part.split('=')[0]) === name);
  return field === undefined ? undefined : decoded(field.replace(/^[^=]*=?/, ''));
}

/** A checkout page with a context's id; null if it is no web page, or has an id already. */
export function checkoutPage(page, id) {
  const {scheme, host, query} = parts(page);
  if (scheme !== 'https' || !host || value(query, 'client_reference_id') !== undefined) return null;
  const [, address, fragment] = /^([^#]*)(.*)$/.exec(page);
  const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
  return `${address}${separator}client_reference_id=${id}${fragment}`;
}

/**
 * What a link that opened the app is: `{plan}` (the paywall's), `{checkout}` (the way back; null is the
 * checkout that began last; with Afterpay's `orderToken`, to capture), `{claim}` (a purchase without an
 * account), `{page}` (a web page that no route knows, to open in the browser), or null.
 *
 * @param place `{host, app, scheme, browserHost}`, as in `CheckoutSession`.
 */
export function readLink(url, {host, app, scheme, browserHost}) {
  const link = parts(url);
  if (link.scheme === scheme && decoded(link.authority) === 'web_checkout' && ['', '/'].includes(link.path)) {
    const plan = value(link.query, 'plan_id');
    return isIdentifier(plan) ? {plan} : null;
  }
  const isOwn = link.host === host && ['https', scheme].includes(link.scheme);
  const path = link.path.replace(/\/$/, '');
  if (isOwn && path === `/v1/${app}/return`) {
    const [id, session, orderToken] = ['context_id', 'session_id', 'orderToken'].map(name => value(link.query, name));
    const isValid = (text, check) => text === undefined || check(text);
    if (isValid(id, isContextId) && isValid(session, isIdentifier) && isValid(orderToken, isOrderToken)) {
      return {checkout: id === undefined ? null : id, ...(orderToken === undefined ? {} : {orderToken})};
    }
  }
  const claims = `/v1/${app}/claim/`;
  const token = path.slice(claims.length);
  if (isOwn && path.startsWith(claims) && isClaimToken(token)) return {claim: token};
  if (!['https', 'http'].includes(link.scheme)) return null;
  // Android gives a link of the app's own host to the app again, for ever. The other name is not the app's.
  if (link.host === host) {
    return {page: `https://${browserHost}${url.slice(url.indexOf('//') + 2 + link.authority.length)}`};
  }
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
  if (scheme !== 'https' || !names.includes(host)) return null;
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
