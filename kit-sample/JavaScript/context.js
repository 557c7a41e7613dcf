// What an app sends: the context's id, and the ply_context. React Native has neither `btoa` for UTF-8 nor `Buffer`.

/**
 * ctx_ and a ULID: 48 bits of milliseconds and 80 random bits, in Crockford's base32.
 *
 * @param now milliseconds since 1970, by the relay's clock.
 */
export function makeContextId(now) {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let time = '';
  for (let rest = now, count = 0; count < 10; count += 1) {
    time = alphabet[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  const random = crypto.getRandomValues(new Uint8Array(16));
  // A byte modulo 32 is five random bits.
  return 'ctx_' + time + Array.from(random, byte => alphabet[byte % 32]).join('');
}

export const isClaimToken = text => /^clm_[0-9A-HJKMNP-TV-Z]{26}$/.test(text);
/** Visible ASCII without a slash: one segment of a path everywhere. */
export const isOrderToken = text => /^(?!\.{1,2}$)[!-.0-~]{1,255}$/.test(text || '');
/** Of a URL: not empty, without control characters. */
export const isIdentifier = text => /^[^\0-\x1f\x7f-\x9f]{1,255}$/.test(text || '');
export const isUserId = text => isIdentifier(text) && !['.', '..'].includes(text);
export const isContextId = text => /^ctx_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);

const attributeNames = {
  presentation_id: 'ply_last_presentation_displayed',
  placement_id: 'ply_last_placement_displayed',
  ab_test_id: 'ply_latest_abtest_id',
  ab_test_variant_id: 'ply_latest_abtest_variant_id',
  original_platform: 'original_platform',
};

/** @param attributes Purchasely's built-in attributes, or the context's own members. Others are left out. */
export function makeContext(plan, type, attributes) {
  const context = {stripe_price_id: plan, stripe_object_type: type};
  for (const [name, builtIn] of Object.entries(attributeNames)) {
    const text = [attributes[name], attributes[builtIn]].find(value => typeof value === 'string');
    if (text !== undefined) context[name] = text;
  }
  return context;
}

/** JSON in base64, the standard alphabet, padded. */
export function plyContext(context) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const bytes = encodeURIComponent(JSON.stringify(context)).match(/%..|./g)
    .map(part => (part.length > 1 ? parseInt(part.slice(1), 16) : part.charCodeAt(0)));
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const [a, b, c] = bytes.slice(index, index + 3);
    const group = (a << 16) | ((b || 0) << 8) | (c || 0);
    text += alphabet[group >> 18] + alphabet[(group >> 12) & 63];
    text += b === undefined ? '==' : alphabet[(group >> 6) & 63] + (c === undefined ? '=' : alphabet[group & 63]);
  }
  return text;
}
