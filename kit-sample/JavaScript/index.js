// What an app imports; index.d.ts has the types.

export {readLink, storefrontPage} from './links.js';
export {Checkouts} from './relay.js';
export {CheckoutSession, isNewLink} from './session.js';
